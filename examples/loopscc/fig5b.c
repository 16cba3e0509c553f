// LoopSCC, Fig. 5(b): one branch doubles. Below 8 the values come back to 0 2 4 (each round adds 10 to i), 8 stays 8,
// and above it x - 8 doubles until i reaches 100 or x overflows.
// expect loops fig5b 1
// expect paths fig5b:1 2
// expect eval fig5b(0, 0) -> 100
// expect eval fig5b(0, 5) -> 101
// expect eval fig5b(0, 8) -> 8100
// expect eval fig5b(0, 9) -> 33554440100
// expect eval fig5b(0, 2147483647) -> undefined
long long fig5b(int i, int x) {
    while (i < 100) {
        if (x < 4) {
            x = x + 2;
            i = i + 3;
        } else {
            x = 2 * x - 8;
            i = i + 4;
        }
    }
    return 1000LL * x + i;
}
