// LoopSCC, Fig. 7 (t30): the two variables change places each time. (3,5) goes (5,2) (2,4) (4,1) (1,3) (3,0) (0,2).
// expect loops t30 1
// expect paths t30:1 1
// expect eval t30(3, 5) -> 2
// expect eval t30(-1, 9) -> -991
// expect eval t30(1, -5) -> -5000
long long t30(int x, int y) {
    while (x > 0) {
        int t;
        x = x - 1;
        t = x;
        x = y;
        y = t;
    }
    return 1000LL * x + y;
}
