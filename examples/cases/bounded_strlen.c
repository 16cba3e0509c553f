// strlen over a bounded buffer. One iterative path and a condition on the array: type 3.
// expect loops bounded_strlen 1
// expect type bounded_strlen:1 3
// expect paths bounded_strlen:1 1
// expect eval bounded_strlen([104, 105, 0], 3) -> 2
// expect eval bounded_strlen([1, 1, 1], 3) -> 3
// expect eval bounded_strlen([0], 1) -> 0
int bounded_strlen(const char *s, int max) {
    int n = 0;
    while (n < max && s[n] != 0)
        n++;
    return n;
}
