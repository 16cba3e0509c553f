/* As eqcnt.c, over a matrix of n rows and m columns.
   By hand: 12 * SCALE fives in a matrix that has so many elements. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef COUNT
#define COUNT (12 * SCALE)
#endif

int eqcntm(const int *a, int n, int m) {
    int equal = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (a[i * m + j] == 5)
                equal++;
    if (equal == COUNT)
        return 1; /* target */
    return 0;
}
