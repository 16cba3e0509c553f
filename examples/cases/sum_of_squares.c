// A cubic closed form: (n - 1)n(2n - 1)/6.
// expect loops sum_of_squares 1
// expect type sum_of_squares:1 1
// expect paths sum_of_squares:1 1
// expect eval sum_of_squares(4) -> 14
// expect eval sum_of_squares(10) -> 285
// expect eval sum_of_squares(1000) -> 332833500
// expect eval sum_of_squares(-1) -> 0
long long sum_of_squares(int n) {
    long long sum = 0;
    for (int i = 0; i < n; i++)
        sum += (long long)i * i;
    return sum;
}
