// Looperman, section 3: an iteration that starts and never ends, so that no iteration of the outer loop is complete.
// No way leads back to the outer while, so that only the inner one is a loop.
// expect loops inner_forever 1
// expect eval inner_forever(0) -> 0
// expect eval inner_forever(-4) -> -4
// expect eval inner_forever(1) -> diverges
int inner_forever(int x) {
    while (x > 0) {
        x = x - 1;
        while (1) {
        }
    }
    return x;
}
