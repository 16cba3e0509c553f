// Two counters that meet in the middle.
// expect loops towards_each_other 1
// expect type towards_each_other:1 1
// expect paths towards_each_other:1 1
// expect eval towards_each_other(0, 10) -> 5005
// expect eval towards_each_other(0, 11) -> 6005
// expect eval towards_each_other(3, 3) -> 3003
// expect eval towards_each_other(9, 3) -> 9003
long long towards_each_other(int lo, int hi) {
    while (lo < hi) {
        lo++;
        hi--;
    }
    return 1000LL * lo + hi;
}
