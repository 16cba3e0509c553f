// Looperman, section 7, the second case: after k iterations x has grown by the sum of y + 1 + i for 0 <= i < k.
// expect loops growing_step 1
// expect paths growing_step:1 1
// expect eval growing_step(0, 0, 10) -> 10
// expect eval growing_step(0, 0, 11) -> 15
// expect eval growing_step(0, -3, 1) -> 3
// expect eval growing_step(7, 1, 7) -> 7
int growing_step(int x, int y, int n) {
    while (x < n) {
        y = y + 1;
        x = x + y;
    }
    return x;
}
