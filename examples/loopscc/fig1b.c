// LoopSCC, Fig. 1(b): the first and the last branch end up alternating one by one; a simple cycle: Proteus's type 1.
// expect loops fig1b 1
// expect type fig1b:1 1
// expect paths fig1b:1 3
// expect eval fig1b(0, 5) -> 1102
// expect eval fig1b(0, -3) -> 2101
// expect eval fig1b(100, -7) -> -6900
long long fig1b(int i, int x) {
    while (i < 100) {
        if (x > 1) {
            x -= 1;
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
