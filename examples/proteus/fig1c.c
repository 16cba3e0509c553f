// Proteus, Fig. 1(c): the step is an input between 1 and limit - 1. Section 2.2 calls it type 3.
// expect loops fig1c 1
// expect type fig1c:1 3
// expect paths fig1c:1 1
// expect eval fig1c(10) with 4, 4, 4 -> 3012
// expect eval fig1c(10) with 9, 9 -> 2018
// expect eval fig1c(10) with 4, 0 -> assumption-failed
// expect eval fig1c(0) -> 0
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

long long fig1c(int limit) {
    int i = 0, k = 0;
    while (i < limit) {
        int j = __VERIFIER_nondet_int();
        __VERIFIER_assume(1 <= j);
        __VERIFIER_assume(j < limit);
        i = i + j;
        k++;
    }
    return 1000LL * k + i;
}
