// LoopSCC, Fig. 7 (t27): the inner loop takes y modulo 100 once y is large enough. Each outer iteration adds 1000.
// expect loops t27 2
// expect type t27:2 1
// expect paths t27:2 1
// expect eval t27(-3, 50) -> 50
// expect eval t27(-2, -5000) -> -3000
// expect eval t27(-2, -950) -> 50
// expect eval t27(1, 7) -> 1007
long long t27(int n, int y) {
    while (n < 0) {
        n = n + 1;
        y = y + 1000;
        while (y >= 100)
            y = y - 100;
    }
    return 1000LL * n + y;
}
