// Eight iterations; the header is visited nine times, which is the number that unwinding tools ask for.
// expect loops eight 1
// expect type eight:1 1
// expect paths eight:1 1
// expect eval eight() -> 8
int eight(void) {
    int iterations = 0;
    for (int i = 0; i < 8; i++)
        iterations++;
    return iterations;
}
