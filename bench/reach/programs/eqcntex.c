/* CBA, section 4: "EQCNTex is a modified benchmark (in a sense two instances of EQCNT in sequence), however the number loop
   iterations is now given explicitly"; "there is no feasible path".
   Left free: the numbers. Here 2 rows and 3 * SCALE columns, twice, and one pair less than there are.
   By hand: with both of a equal an even number of pairs, else at most one a column. So a sum of all but one needs one instance
   with all but one, which is odd and more than the columns: none. In counters of paths nothing says so.
   The variant asks for one more than there are. */
/* expect: unreachable */
/* variant: -DROWS=4 -DCOLUMNS=5 -DSUM=41 -> unreachable */
/* variant: -DSUM=10 -> reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef ROWS
#define ROWS 2
#endif
#ifndef COLUMNS
#define COLUMNS (3 * SCALE)
#endif
#ifndef SUM
#define SUM (2 * ROWS * COLUMNS - 1)
#endif

int eqcntex(const int *a, const int *b, const int *c, const int *d) {
    int equal = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            if (a[i] == b[j])
                equal++;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            if (c[i] == d[j])
                equal++;
    if (equal == SUM)
        return 1; /* target */
    return 0;
}
