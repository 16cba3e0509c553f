/* Fills: what is written depends on the index, and on what no iteration changes. */

void fill(int *a, int n, int x) {
  for (int i = 0; i < n; i++)
    a[i] = x;
}

void fill_with_the_index(short *a, int n) {
  for (int i = 0; i < n; i++)
    a[i] = i;
}

void fill_with_squares(long long *a, unsigned n) {
  for (unsigned i = 0; i < n; i++)
    a[i] = (long long)i * i;
}

void fill_from_the_end(signed char *a, int n) {
  for (int i = n - 1; i >= 0; i--)
    a[i] = n - i;
}

void fill_every_third(unsigned char *a, int n) {
  for (int i = 0; i < n; i++)
    a[3 * i + 1] = 255;
}

void fill_by_twos(unsigned short *a, unsigned long n) {
  for (unsigned long i = 0; i < n; i += 2)
    a[i] = 0xffff;
}

void fill_by_a_pointer(int *a, int n) {
  int *p = a;
  for (int i = n; i > 0; i--)
    *p++ = i;
}

void fill_up_to_an_end(int *a, int n) {
  int *end = a + n;
  for (int *p = a; p < end; p += 2)
    *p = 9;
}
