// First x doubles y times, then it counts down to 0: y + x * 2^y iterations.
// expect loops two_phases 1
// expect paths two_phases:1 2
// expect eval two_phases(3, 2) -> 14
// expect eval two_phases(0, 5) -> 0
// expect eval two_phases(7, -1) -> 7
// expect eval two_phases(3, 40) -> undefined
int two_phases(int x, int y) {
    int iterations = 0;
    while (x > 0) {
        if (y > 0) {
            x *= 2;
            y--;
        } else {
            x--;
        }
        iterations++;
    }
    return iterations;
}
