// Proteus, Fig. 1(d): inputs choose among three paths. Section 2.2 calls it type 4.
// expect loops fig1d 1
// expect type fig1d:1 4
// expect paths fig1d:1 3
// expect eval fig1d(2, 3, 4, 1, 0) with 0, 1, 0, 0, 1, 0, 0, 0 -> 203
// expect eval fig1d(0, 5, 6, 1, 1) -> 506
extern int __VERIFIER_nondet_int(void);

long long fig1d(int x1, int x2, int x3, int c1, int c2) {
    while (x1 > 0 && x2 > 0 && x3 > 0) {
        if (c1)
            x1 = x1 - 1;
        else if (c2)
            x2 = x2 - 1;
        else
            x3 = x3 - 1;
        c1 = __VERIFIER_nondet_int();
        c2 = __VERIFIER_nondet_int();
    }
    return 10000LL * x1 + 100LL * x2 + x3;
}
