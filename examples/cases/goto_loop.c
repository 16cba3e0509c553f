// A loop written with goto.
// expect loops goto_loop 1
// expect type goto_loop:1 1
// expect paths goto_loop:1 1
// expect eval goto_loop(0, 10) -> 12
// expect eval goto_loop(10, 10) -> 10
// expect eval goto_loop(2147483646, 2147483647) -> undefined
int goto_loop(int x, int n) {
again:
    if (x < n) {
        x += 4;
        goto again;
    }
    return x;
}
