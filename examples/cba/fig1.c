// CBA, Fig. 1: reaching the error takes 13 to 15 ones in A, and 23 minus that many twos in B. In each loop the array
// chooses between two paths in any order: type 4 by Proteus's section 2.2.
// expect loops fig1 2
// expect type fig1:1 4
// expect type fig1:2 4
// expect paths fig1:1 2
// expect paths fig1:2 2
// expect eval fig1([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0], [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0]) -> error-reached
// expect eval fig1([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0], [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0]) -> 1211
// expect eval fig1([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) -> 100
extern void reach_error(void);

int fig1(const int *A, const int *B) {
    int a = 0, b = 0;
    for (int i = 0; i < 15; ++i)
        if (A[i] == 1)
            ++a;
    for (int j = 0; j < 15; ++j)
        if (B[j] == 2)
            ++b;
    if (a > 12 && a + b == 23)
        reach_error();
    return 100 * a + b;
}
