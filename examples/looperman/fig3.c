// Looperman, Fig. 3: bubble sort. The inner loop runs n(n - 1)/2 times in all for n > 0 (section 4); that is returned.
// expect loops bubble_sort 2
// expect eval bubble_sort(5, [5, 1, 4, 2, 3]) -> 10
// expect eval bubble_sort(2, [1, 2]) -> 1
// expect eval bubble_sort(1, [7]) -> 0
// expect eval bubble_sort(-3, [0]) -> 0
int bubble_sort(int n, int *A) {
    int comparisons = 0;
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < n - i - 1; j++) {
            comparisons++;
            if (A[j + 1] < A[j]) {
                int tmp = A[j + 1];
                A[j + 1] = A[j];
                A[j] = tmp;
            }
        }
    return comparisons;
}
