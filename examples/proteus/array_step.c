// Proteus, section 5.2: the array decides how i moves; the paper's example of an irregular execution, hence type 4.
// expect loops array_step 1
// expect type array_step:1 4
// expect paths array_step:1 2
// expect eval array_step([0, 0, 0], 0, 3) -> 3
// expect eval array_step([1, 7, 0, 0], 2, 4) -> 4
int array_step(const int *a, int i, int n) {
    while (i < n) {
        if (a[i] == 0)
            i++;
        else
            i -= 2;
    }
    return i;
}
