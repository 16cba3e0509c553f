// Counts down and sums: n(n - 1)/2.
// expect loops descending 1
// expect type descending:1 1
// expect paths descending:1 1
// expect eval descending(5) -> 10
// expect eval descending(0) -> 0
// expect eval descending(-3) -> 0
// expect eval descending(100000) -> 4999950000
// expect eval descending(-2147483648) -> undefined
long long descending(int n) {
    long long sum = 0;
    for (int i = n - 1; i >= 0; i--)
        sum += i;
    return sum;
}
