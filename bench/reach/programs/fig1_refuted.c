/* CBA, section 2: figure 1 with "the predicate a>12" substituted by a>17, "thus line 9 becomes unreachable".
   By hand: a is at most 15 * SCALE. */
/* expect: unreachable */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef ABOVE
#define ABOVE (17 * SCALE)
#endif

int fig1(const int *A, const int *B) {
    int a = 0, b = 0;
    for (int i = 0; i < 15 * SCALE; ++i)
        if (A[i] == 1)
            ++a;
    for (int j = 0; j < 15 * SCALE; ++j)
        if (B[j] == 2)
            ++b;
    if (a > ABOVE && a + b == 23 * SCALE)
        return 1; /* target */
    return 0;
}
