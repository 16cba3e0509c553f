// A continue on every third number: the sum of the others.
// expect loops skip_multiples 1
// expect paths skip_multiples:1 2
// expect eval skip_multiples(7) -> 12
// expect eval skip_multiples(0) -> 0
// expect eval skip_multiples(1) -> 0
long long skip_multiples(int n) {
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0)
            continue;
        sum += i;
    }
    return sum;
}
