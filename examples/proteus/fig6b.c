// Proteus, Fig. 6(b): a search that must succeed, since a[size / 2] was set before it. The condition on the array
// depends on input and the only iterative path cannot alternate with another: type 3 by section 2.2.
// expect loops fig6b 1
// expect type fig6b:1 3
// expect paths fig6b:1 1
// expect eval fig6b([1, 1, 1, 1, 1], 5) -> 2
// expect eval fig6b([3, 0, 0, 0], 4) -> 0
// expect eval fig6b([0], 1) -> 0
extern void reach_error(void);

int fig6b(int *a, int size) {
    int j = 0;
    a[size / 2] = 3;
    while (j < size && a[j] != 3)
        j++;
    if (!(j < size))
        reach_error();
    return j;
}
