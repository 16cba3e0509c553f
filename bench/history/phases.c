/* A phase that is twice as fast as the next one. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    unsigned n = __VERIFIER_nondet_int() & 31, x = 0, y = 0;
    while (x < n) {
        if (x < 7)
            y += 2;
        else
            y += 1;
        x++;
    }
    if (n > 7 && y != n + 7)
        reach_error();
    return 0;
}
