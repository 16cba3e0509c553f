// Proteus, Fig. 1(f): an input ends the loop, the paths follow in a fixed round. Section 2.2 calls it type 3.
// The error is never reached: x1 and x2 are equal whenever s comes back to 1.
// expect loops fig1f 1
// expect type fig1f:1 3
// expect eval fig1f() with 0 -> 1
// expect eval fig1f() with 1, 1, 1, 0 -> 10104
// expect eval fig1f() with 1, 1, 1, 1, 1, 0 -> 20102
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

long long fig1f(void) {
    int s = 1, x1 = 0, x2 = 0;
    while (__VERIFIER_nondet_int()) {
        if (s == 1)
            x1++;
        else if (s == 2)
            x2++;
        s++;
        if (s == 5)
            s = 1;
        if (s == 1 && x1 != x2)
            reach_error();
    }
    return 10000LL * x1 + 100LL * x2 + s;
}
