// CBA, section 4 (EQCNT, described in words there): a count of the outer scope changes in the innermost one.
// expect loops eqcnt 2
// expect type eqcnt:2 4
// expect paths eqcnt:2 2
// expect eval eqcnt([1, 2, 2], 3, [2, 1], 2) -> 3
// expect eval eqcnt([1], 1, [2], 1) -> 0
// expect eval eqcnt([1], 0, [1], 1) -> 0
int eqcnt(const int *a, int n, const int *b, int m) {
    int equal = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (a[i] == b[j])
                equal++;
    return equal;
}
