/* Steps by three down to the end. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    int n = __VERIFIER_nondet_int(), x, k = 0;
    if (n < 0 || n > 20)
        return 0;
    for (x = n; x > 0; x -= 3)
        k++;
    if (3 * k < n)
        reach_error();
    return 0;
}
