/* Loops in loops. */

void fill_rows(int *m, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++)
      m[4 * i + j] = i + j;
}

void add_to_rows(unsigned char *m, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++)
      m[4 * i + j] += 3;
}

void lower_triangle(short *m, int n) {
  for (int i = 0; i < n && i < 4; i++)
    for (int j = 0; j <= i; j++)
      m[4 * i + j] = 1;
}

void transpose(int *to, const int *m, int n) {
  for (int i = 0; i < n && i < 4; i++)
    for (int j = 0; j < 4; j++)
      to[4 * j + i] = m[4 * i + j];
}

void rows_of_a_length(char *m, int n, signed char x) {
  int length = x & 3;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < length; j++)
      m[i * length + j] = i;
}

void sums_of_rows(unsigned *sums, const unsigned *m, int n) {
  for (int i = 0; i < n; i++) {
    unsigned total = 0;
    for (int j = 0; j < 4; j++)
      total += m[4 * i + j];
    sums[i] = total;
  }
}

void bubble_sort(signed char *a, int n) {
  for (int end = n; end > 1; end--)
    for (int i = 0; i + 1 < end; i++)
      if (a[i] > a[i + 1]) {
        signed char held = a[i];
        a[i] = a[i + 1];
        a[i + 1] = held;
      }
}
