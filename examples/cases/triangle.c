// A nest whose inner bound is the outer counter: n(n - 1)/2 inner iterations.
// expect loops triangle 2
// expect type triangle:2 1
// expect paths triangle:2 1
// expect eval triangle(5) -> 10
// expect eval triangle(0) -> 0
// expect eval triangle(1000) -> 499500
long long triangle(int n) {
    long long count = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            count++;
    return count;
}
