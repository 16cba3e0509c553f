/* An element depends on what an earlier iteration wrote. */

void count_up(unsigned *a, int n) {
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1] + 1;
}

void prefix_sums(unsigned *a, int n) {
  for (int i = 1; i < n; i++)
    a[i] += a[i - 1];
}

void sums_of_another(unsigned long long *to, const unsigned *a, int n) {
  unsigned long long total = 0;
  for (int i = 0; i < n; i++) {
    total += a[i];
    to[i] = total;
  }
}

void running_maximum(int *a, int n) {
  for (int i = 1; i < n; i++)
    if (a[i] < a[i - 1])
      a[i] = a[i - 1];
}

void repeat_three(char *a, int n) {
  for (int i = 0; i < n; i++)
    a[i + 3] = a[i];
}

void fibonacci(unsigned *a, int n) {
  for (int i = 2; i < n; i++)
    a[i] = a[i - 1] + a[i - 2];
}

void one_pass_of_bubble_sort(int *a, int n) {
  for (int i = 0; i + 1 < n; i++)
    if (a[i] > a[i + 1]) {
      int held = a[i];
      a[i] = a[i + 1];
      a[i + 1] = held;
    }
}

void one_step_of_insertion_sort(int *a, int n) {
  int held = a[n], j = n;
  while (j > 0 && a[j - 1] > held) {
    a[j] = a[j - 1];
    j--;
  }
  a[j] = held;
}
