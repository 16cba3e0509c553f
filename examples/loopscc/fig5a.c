// LoopSCC, Fig. 5(a): x ends up in [0, 7) and goes round its seven values; from 0 the round is 2 4 6 1 3 5 0 and adds
// 23 to i.
// expect loops fig5a 1
// expect paths fig5a:1 2
// expect eval fig5a(0, 0) -> 6101
// expect eval fig5a(0, 9) -> 1103
// expect eval fig5a(123, 4) -> 4123
long long fig5a(int i, int x) {
    while (i < 100) {
        if (x < 5) {
            x = x + 2;
            i = i + 3;
        } else {
            x = x - 5;
            i = i + 4;
        }
    }
    return 1000LL * x + i;
}
