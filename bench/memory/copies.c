/* Copies, with and without a change on the way. */

void copy(int *to, const int *from, int n) {
  for (int i = 0; i < n; i++)
    to[i] = from[i];
}

void copy_backwards(int *to, const int *from, int n) {
  for (int i = 0; i < n; i++)
    to[i] = from[n - 1 - i];
}

void copy_by_pointers(char *to, const char *from, unsigned long n) {
  while (n-- > 0)
    *to++ = *from++;
}

void copy_a_string(char *to, const char *from, int n) {
  int i = 0;
  while (i < n && from[i] != 0) {
    to[i] = from[i];
    i++;
  }
  to[i] = 0;
}

void copy_and_pad(char *to, const char *from, int n) {
  int i = 0;
  for (; i < n && from[i]; i++)
    to[i] = from[i];
  for (; i < n; i++)
    to[i] = ' ';
}

void append(char *text, const char *more, int n) {
  int end = 0;
  while (end < 12 && text[end])
    end++;
  for (int i = 0; i < n; i++)
    text[end + i] = more[i];
}

void widen(long long *to, const signed char *from, int n) {
  for (int i = 0; i < n; i++)
    to[i] = from[i];
}

void narrow(unsigned char *to, const int *from, int n) {
  for (int i = 0; i < n; i++)
    to[i] = (unsigned char)from[i];
}

void interleave(short *to, const short *even, const short *odd, int n) {
  for (int i = 0; i < n; i++) {
    to[2 * i] = even[i];
    to[2 * i + 1] = odd[i];
  }
}

void spread_over_two(unsigned char *low, unsigned char *high, const unsigned short *from, int n) {
  for (int i = 0; i < n; i++) {
    low[i] = from[i] & 255;
    high[i] = from[i] >> 8;
  }
}
