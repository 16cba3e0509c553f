/* A nest with counts of its own. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    unsigned n = __VERIFIER_nondet_int() & 7, c = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < 5; j++)
            c += 2;
    if (c != 10 * n)
        reach_error();
    return 0;
}
