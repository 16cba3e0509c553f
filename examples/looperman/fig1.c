// Looperman, Fig. 1: max(0, ceil((x - 5) / 2)) iterations (section 1). i stays odd, so it never overflows.
// expect loops fig1 1
// expect type fig1:1 1
// expect paths fig1:1 1
// expect eval fig1(4) -> 5
// expect eval fig1(10) -> 11
// expect eval fig1(-2147483648) -> 5
// expect eval fig1(1000000) -> 1000001
int fig1(int x) {
    int i = 5;
    while (i < x)
        i = i + 2;
    return i;
}
