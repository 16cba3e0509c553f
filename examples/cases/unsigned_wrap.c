// Unsigned steps of 2 while x >= 10: ends because 2^32 wraps round to 0 or 1.
// expect loops unsigned_wrap 1
// expect eval unsigned_wrap(4294967294) -> 0
// expect eval unsigned_wrap(4294967291) -> 1
// expect eval unsigned_wrap(5) -> 5
unsigned unsigned_wrap(unsigned x) {
    while (x >= 10)
        x += 2;
    return x;
}
