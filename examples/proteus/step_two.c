// Proteus, section 5.2: steps of two, so about half as many iterations as the distance. Overflows only next to INT_MAX.
// expect loops step_two 1
// expect type step_two:1 1
// expect paths step_two:1 1
// expect eval step_two(0, 7) -> 8
// expect eval step_two(5, 5) -> 5
// expect eval step_two(2147483645, 2147483647) -> 2147483647
// expect eval step_two(2147483646, 2147483647) -> undefined
int step_two(int i, int n) {
    while (i < n)
        i += 2;
    return i;
}
