/* CBA, section 4: "In DOIF we model a typical piece of code which scans an input and, for each member of the input array,
   performs an action which depends on its value."
   Left free: the values, the actions, the bounds. Here one of four actions (the paper's table has 4 subchains), and 25
   elements (its path condition has 26 conjuncts).
   By hand: 9 ones, 5 twos, 7 threes and 4 others make 25, times SCALE. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif

int doif(const int *in, int n) {
    int a = 0, b = 0, c = 0;
    for (int i = 0; i < n; i++) {
        if (in[i] == 1)
            a++;
        else if (in[i] == 2)
            b++;
        else if (in[i] == 3)
            c++;
    }
    if (n == 25 * SCALE && a == 9 * SCALE && b == 5 * SCALE && c == 7 * SCALE)
        return 1; /* target */
    return 0;
}
