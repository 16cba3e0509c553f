// Looperman, section 7, the first case: a condition that is not linear in the path counter.
// expect loops square 1
// expect paths square:1 1
// expect eval square(0, 10) -> 4
// expect eval square(3, 10) -> 4
// expect eval square(-2, 10) -> 4
// expect eval square(5, 10) -> 5
int square(int x, int n) {
    while (x * x < n)
        x = x + 1;
    return x;
}
