// Clears the lowest set bit each time: as many iterations as there are set bits, at most 32.
// expect loops low_bits 1
// expect paths low_bits:1 1
// expect eval low_bits(0) -> 0
// expect eval low_bits(255) -> 8
// expect eval low_bits(2147483648) -> 1
// expect eval low_bits(4294967295) -> 32
int low_bits(unsigned mask) {
    int count = 0;
    while (mask) {
        mask -= mask & -mask;
        count++;
    }
    return count;
}
