// Looperman, section 7, the third case: the inner loop gives back what the outer one counts by. The outer loop has
// x + max(0, y) iterations for x > 0, the inner one max(0, y) in all; returned are both together.
// expect loops gives_back 2
// expect eval gives_back(3, 4) -> 11
// expect eval gives_back(3, -4) -> 3
// expect eval gives_back(0, 4) -> 0
int gives_back(int x, int y) {
    int iterations = 0;
    while (x > 0) {
        x = x - 1;
        iterations++;
        while (y > 0) {
            y = y - 1;
            x = x + 1;
            iterations++;
        }
    }
    return iterations;
}
