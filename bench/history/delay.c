/* An outer loop without end, whose steps depend on how the inner loop went on. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    int a = 0, b = 0, st, c, last = __VERIFIER_nondet_int();
    if (last <= 0)
        return 0;
    while (1) {
        st = 1;
        for (c = 0; c < 6; c++)
            if (c >= last)
                st = 0;
        if (st == 0 && c == last + 1) {
            a += 3;
            b += 3;
        } else {
            a += 2;
            b += 2;
        }
        if (c == last && st == 0)
            a = a + 1;
        else if (st == 1 && last < 6)
            a = a + 1;
        if (a != b)
            reach_error();
    }
}
