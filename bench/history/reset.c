/* An inner loop that is entered with another limit in each round. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    unsigned n = __VERIFIER_nondet_int() & 7, total = 0, x;
    for (unsigned i = 0; i < n; i++) {
        x = 0;
        while (x < 4)
            x += 2;
        total += x;
    }
    if (total != 4 * n)
        reach_error();
    return 0;
}
