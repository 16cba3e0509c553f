// CBA, section 4 (TwoLoops, described in words there): the condition of the second loop uses what the first computed.
// j is a multiple of 4 as i is, so it ends at i and is never 15.
// expect loops two_loops 2
// expect type two_loops:1 1
// expect type two_loops:2 1
// expect paths two_loops:1 1
// expect paths two_loops:2 1
// expect eval two_loops(10) -> 12012
// expect eval two_loops(0) -> 0
// expect eval two_loops(-3) -> 0
extern void reach_error(void);

long long two_loops(int n) {
    int i = 0, j = 0;
    while (i < n)
        i += 4;
    while (j < i)
        j += 2;
    if (j == 15)
        reach_error();
    return 1000LL * i + j;
}
