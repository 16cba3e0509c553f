// Proteus, section 4.2: the inner loop of insertion sort. One iterative path, two exits, and a condition that depends
// on the array: type 3 by section 2.2.
// expect loops insertion 1
// expect type insertion:1 3
// expect paths insertion:1 1
// expect eval insertion([1, 5, 9, 9], 3, 4) -> 0
// expect eval insertion([5, 6, 7], 2, 4) -> -1
// expect eval insertion([5, 6, 7], 2, 7) -> 2
// expect eval insertion([5], 0, 1) -> assumption-failed
extern void __VERIFIER_assume(int);

int insertion(const int *v, int i, int key) {
    __VERIFIER_assume(i > 0);
    while (i >= 0 && v[i] > key)
        i--;
    return i;
}
