// An accumulator that wraps by design; no condition reads it.
// expect loops hash 1
// expect type hash:1 1
// expect paths hash:1 1
// expect eval hash(2, 1) -> 1185
// expect eval hash(0, 5) -> 5
// expect eval hash(1, 4294967295) -> 4294967272
unsigned hash(int n, unsigned h) {
    while (n > 0) {
        h = h * 31 + 7;
        n--;
    }
    return h;
}
