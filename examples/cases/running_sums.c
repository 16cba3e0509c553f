// Writes the sums of the first elements of one array into another one.
// expect loops running_sums 1
// expect type running_sums:1 1
// expect paths running_sums:1 1
// expect eval running_sums([0, 0, 0], [5, 2, 4], 3) -> 11
// expect eval running_sums([7], [9], 0) -> 0
unsigned running_sums(unsigned *sums, const unsigned char *values, int n) {
    unsigned so_far = 0;
    for (int i = 0; i < n; i++) {
        so_far += values[i];
        sums[i] = so_far;
    }
    return so_far;
}
