// Proteus, Fig. 6(a): j runs to m and falls back, i counts the falls; an input may end the loop at any time.
// expect loops fig6a 1
// expect paths fig6a:1 2
// expect eval fig6a(2, 3) with 1, 1, 1, 1, 0 -> 1001
// expect eval fig6a(2, 3) with 0 -> 0
// expect eval fig6a(3, 3) -> assumption-failed
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

long long fig6a(int m, int n) {
    int i = 0, j = 0;
    __VERIFIER_assume(0 < m && m < n);
    while (i < n && __VERIFIER_nondet_int()) {
        if (j < m) {
            j++;
        } else {
            j = 0;
            i++;
        }
    }
    return 1000LL * i + j;
}
