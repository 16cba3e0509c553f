// Two exit conditions joined by "or".
// expect loops two_exits 1
// expect type two_exits:1 1
// expect paths two_exits:1 1
// expect eval two_exits(0, 0, 5, 6) -> 3006
// expect eval two_exits(0, 0, 2, 100) -> 2004
// expect eval two_exits(9, 1, 2, 100) -> 9001
long long two_exits(int i, int j, int n, int m) {
    while (!(i >= n || j >= m)) {
        i++;
        j += 2;
    }
    return 1000LL * i + j;
}
