// Endless but for an input that breaks it. One iterative path and an input-dependent condition: type 3.
// expect loops read_until 1
// expect type read_until:1 3
// expect paths read_until:1 1
// expect eval read_until() with 5, 6, -1 -> 2011
// expect eval read_until() with -7 -> 0
extern int __VERIFIER_nondet_int(void);

long long read_until(void) {
    long long count = 0, sum = 0;
    while (1) {
        int c = __VERIFIER_nondet_int();
        if (c < 0)
            break;
        count++;
        sum += c;
    }
    return 1000 * count + sum;
}
