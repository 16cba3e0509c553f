// A pointer that walks in steps: p meets the end only where the step divides the length.
// expect loops pointer_step 1
// expect paths pointer_step:1 1
// expect eval pointer_step([1, 2, 3, 4, 5, 6], 6, 2) -> 9
// expect eval pointer_step([1, 2, 3, 4, 5, 6], 6, 3) -> 5
// expect eval pointer_step([1], 0, 5) -> 0
int pointer_step(const int *a, int n, int step) {
    const int *p = a, *end = a + n;
    int sum = 0;
    while (p != end) {
        sum += *p;
        p += step;
    }
    return sum;
}
