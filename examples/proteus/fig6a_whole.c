// Proteus, Fig. 6(a) when no input ends it early: n * m + n iterations (section 5.2), n falls after m steps each.
// expect loops fig6a_whole 1
// expect paths fig6a_whole:1 2
// expect eval fig6a_whole(3, 5) -> 20
// expect eval fig6a_whole(100, 1000) -> 101000
// expect eval fig6a_whole(0, 5) -> assumption-failed
extern void __VERIFIER_assume(int);

long long fig6a_whole(int m, int n) {
    int i = 0, j = 0;
    long long iterations = 0;
    __VERIFIER_assume(0 < m && m < n);
    while (i < n) {
        if (j < m) {
            j++;
        } else {
            j = 0;
            i++;
        }
        iterations++;
    }
    return iterations;
}
