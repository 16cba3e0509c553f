/* CBA, section 4: "DOIFex is an extension of this benchmark, and tests behaviour on sequences of loops with internal
   branching."
   Left free: all but that there are two loops (8 subchains: 4 in each). Here the second one changes what the first computed.
   By hand: 5 ones, 4 twos, 3 threes; then 5 ones (a = 5 + 10), 2 twos (b = 4 - 2), 3 threes, 3 others, times SCALE. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif

int doifex(const int *in, int n, const int *more, int m) {
    int a = 0, b = 0, c = 0;
    for (int i = 0; i < n; i++) {
        if (in[i] == 1)
            a++;
        else if (in[i] == 2)
            b++;
        else if (in[i] == 3)
            c++;
    }
    for (int i = 0; i < m; i++) {
        if (more[i] == 1)
            a += 2;
        else if (more[i] == 2)
            b--;
        else if (more[i] == 3)
            c++;
    }
    if (n == 12 * SCALE && m == 13 * SCALE && a == 15 * SCALE && b == 2 * SCALE && c == 6 * SCALE)
        return 1; /* target */
    return 0;
}
