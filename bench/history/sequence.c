/* A loop that goes on from what another one has left. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    unsigned n = __VERIFIER_nondet_int() & 15, a = 0, b = 0;
    for (unsigned i = 0; i < n; i++)
        a += 3;
    while (a > 0) {
        a--;
        b += 2;
    }
    if (b != 6 * n)
        reach_error();
    return 0;
}
