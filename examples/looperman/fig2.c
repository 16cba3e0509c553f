// Looperman, Fig. 2: counts up to three nonzero elements; the array chooses between the two paths in any order: type 4
// by Proteus's section 2.2. At most max(0, n) iterations, at most 3 of them through the branch (section 4).
// expect loops nonzeros 1
// expect type nonzeros:1 4
// expect paths nonzeros:1 2
// expect eval nonzeros(5, [1, 0, 2, 3, 4]) -> 3
// expect eval nonzeros(2, [0, 0]) -> 0
// expect eval nonzeros(3, [0, 9, 0]) -> 1
// expect eval nonzeros(-1, [1]) -> 0
int nonzeros(int n, const int *A) {
    int k = 0;
    for (int i = 0; i < n && k < 3; i++)
        if (A[i] != 0)
            k++;
    return k;
}
