// Reads an array from its end, with the index n - 1 - i.
// expect loops descending_index 1
// expect type descending_index:1 1
// expect paths descending_index:1 1
// expect eval descending_index([1, 2, 3], 3) -> 4
// expect eval descending_index([9], 0) -> 0
int descending_index(const int *a, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i * a[n - 1 - i];
    return sum;
}
