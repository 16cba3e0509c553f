// LoopSCC, Fig. 3(a): of its three branches one is infeasible (x >= 0 and x + 7 < 5). From 0 the round is
// -5 -3 -1 1 -4 -2 0 and adds 19 to i.
// expect loops fig3a 1
// expect paths fig3a:1 2
// expect eval fig3a(0, 0) -> -2900
// expect eval fig3a(0, -9) -> -4899
// expect eval fig3a(100, -9) -> -8900
long long fig3a(int i, int x) {
    while (i < 100) {
        if (x < 0) {
            x += 2;
            i += 3;
        } else {
            x += 7;
            if (x < 5) {
                x += 3;
                i += 1;
            } else {
                x -= 12;
                i += 2;
            }
        }
    }
    return 1000LL * x + i;
}
