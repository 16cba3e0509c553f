// No iteration at all for n <= 10.
// expect loops zero_trips 1
// expect type zero_trips:1 1
// expect paths zero_trips:1 1
// expect eval zero_trips(5) -> 0
// expect eval zero_trips(10) -> 0
// expect eval zero_trips(12) -> 21
long long zero_trips(int n) {
    long long sum = 0;
    for (int i = 10; i < n; i++)
        sum += i;
    return sum;
}
