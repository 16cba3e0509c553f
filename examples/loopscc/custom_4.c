// LoopSCC, Fig. 7 (custom_4): a flag chooses the branches; once set, x goes round 0 2 4 6 1 3 5 7 2 ...
// expect loops custom_4 1
// expect paths custom_4:1 3
// expect eval custom_4(0, 0, 1) -> 6103
// expect eval custom_4(0, 0, 0) -> 4100
// expect eval custom_4(100, 3, 0) -> 3100
long long custom_4(int i, int x, int flag) {
    while (i < 100) {
        if (flag) {
            if (x > 5) {
                x -= 5;
                i += 3;
            } else {
                x += 2;
                i += 7;
            }
        } else {
            x -= 7;
            flag = 1;
        }
    }
    return 1000LL * x + i;
}
