/* Two phases, one after the other. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    unsigned n = __VERIFIER_nondet_int() & 31, x = 7, y = 7;
    for (unsigned i = 0; i < n; i++)
        if (i < 10)
            x += 3;
        else
            y += 3;
    if (x + y != 14 + 3 * n)
        reach_error();
    return 0;
}
