// LoopSCC, Fig. 1(c), the inductiveness trap: x ends up in [48, 61) and goes round its 13 values; from 48 one round is
// 59 57 55 53 51 49 60 58 56 54 52 50 48 and adds 47 to i.
// expect loops fig1c 1
// expect paths fig1c:1 3
// expect eval fig1c(0, 50) -> 59104
// expect eval fig1c(0, -1) -> 60103
// expect eval fig1c(105, 4) -> 4105
long long fig1c(int i, int x) {
    while (i < 100) {
        if (x >= 50) {
            x -= 2;
            i += 3;
        } else if (x < 0) {
            x += 1;
            i += 5;
        } else {
            x += 11;
            i += 7;
        }
    }
    return 1000LL * x + i;
}
