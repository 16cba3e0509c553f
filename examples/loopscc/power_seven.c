// LoopSCC, section 4.3.1: a polynomial condition, x^7 < x^3 + 2, true exactly for x <= 1 as long as nothing overflows.
// expect loops power_seven 1
// expect paths power_seven:1 1
// expect eval power_seven(1) -> 3
// expect eval power_seven(0) -> 2
// expect eval power_seven(-5) -> 3
// expect eval power_seven(-500) -> 2
// expect eval power_seven(-1000000) -> undefined
long long power_seven(long long x) {
    while (x * x * x * x * x * x * x < x * x * x + 2)
        x = x + 2;
    return x;
}
