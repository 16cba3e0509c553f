// LoopSCC, Fig. 1(a): three branches without a way back between them; constant steps and no cycle: Proteus's type 1.
// expect loops fig1a 1
// expect type fig1a:1 1
// expect paths fig1a:1 3
// expect eval fig1a(0, 5) -> 39102
// expect eval fig1a(0, -3) -> 25100
// expect eval fig1a(100, 7) -> 7100
// expect eval fig1a(0, 2147483647) -> undefined
long long fig1a(int i, int x) {
    while (i < 100) {
        if (x > 1) {
            x += 1;
            i += 3;
        } else if (x < -1) {
            x += 1;
            i += 5;
        } else {
            x += 1;
            i += 7;
        }
    }
    return 1000LL * x + i;
}
