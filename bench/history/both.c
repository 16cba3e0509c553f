/* Two counters, of which one stops earlier. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    int n = __VERIFIER_nondet_int(), x = 0, y = 0;
    if (n < 0 || n > 12)
        return 0;
    while (x < n) {
        x++;
        if (y < 5)
            y++;
    }
    if (n > 5 && y != 5)
        reach_error();
    return 0;
}
