// Proteus, Fig. 1(e): naive search of b in a; which path runs depends on the arrays. Section 2.2 calls it type 4.
// expect loops fig1e 1
// expect type fig1e:1 4
// expect paths fig1e:1 2
// expect eval fig1e([1, 2, 3, 2, 3, 4], 6, [3, 4], 2) -> 6002
// expect eval fig1e([1, 1], 2, [2], 1) -> 2000
// expect eval fig1e([1], 0, [2], 1) -> 0
long long fig1e(const int *a, int n, const int *b, int m) {
    int i = 0, j = 0;
    while (i < n && j < m) {
        if (a[i] == b[j]) {
            i++;
            j++;
        } else {
            i = i - j + 1;
            j = 0;
        }
    }
    return 1000LL * i + j;
}
