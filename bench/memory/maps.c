/* Elements made of elements: from another array, or in place. */

void add_arrays(unsigned *sum, const unsigned *a, const unsigned *b, int n) {
  for (int i = 0; i < n; i++)
    sum[i] = a[i] + b[i];
}

void scale_in_place(unsigned short *a, int n, unsigned short x) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] * x;
}

void add_the_index(unsigned long long *a, int n) {
  for (int i = 0; i < n; i++)
    a[i] += i;
}

void clip(short *a, int n) {
  for (int i = 0; i < n; i++)
    if (a[i] > 100)
      a[i] = 100;
    else if (a[i] < -100)
      a[i] = -100;
}

void to_upper(char *a, int n) {
  for (int i = 0; i < n; i++)
    if (a[i] >= 'a' && a[i] <= 'z')
      a[i] -= 32;
}

void greater_of_two(int *to, const int *a, const int *b, int n) {
  for (int i = 0; i < n; i++)
    to[i] = a[i] > b[i] ? a[i] : b[i];
}

void differences(unsigned *to, const unsigned *a, int n) {
  for (int i = 0; i < n; i++)
    to[i] = a[i + 1] - a[i];
}

void mark_the_even(unsigned char *mark, int n) {
  for (int i = 0; i < n; i++)
    if (i % 2 == 0)
      mark[i] = 1;
}
