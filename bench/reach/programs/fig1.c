/* CBA, figure 1 (a), whole in the paper; the bounds are 15 there.
   By hand: 13 ones in A and 10 twos in B, times SCALE. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef ABOVE
#define ABOVE (12 * SCALE)
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
