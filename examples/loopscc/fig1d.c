// LoopSCC, Fig. 1(d), connected cycles: three branches on one cycle. From 8 the round is 3 -2 -1 8 and adds 18 to i.
// expect loops fig1d 1
// expect paths fig1d:1 3
// expect eval fig1d(0, 0) -> -897
// expect eval fig1d(0, 10) -> 3101
// expect eval fig1d(100, 0) -> 100
long long fig1d(int i, int x) {
    while (i < 100) {
        if (x > 1) {
            x -= 5;
            i += 3;
        } else if (x < -1) {
            x += 1;
            i += 5;
        } else {
            x += 9;
            i += 7;
        }
    }
    return 1000LL * x + i;
}
