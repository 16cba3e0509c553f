/* Which element is written, data or another counter says. */

int keep_the_positive(int *to, const int *a, int n) {
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > 0)
      to[kept++] = a[i];
  return kept;
}

int remove_in_place(char *a, int n, char x) {
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (a[i] != x)
      a[kept++] = a[i];
  return kept;
}

int places_of_zeros(short *to, const unsigned char *a, int n) {
  int found = 0;
  for (int i = 0; i < n; i++)
    if (a[i] == 0)
      to[found++] = i;
  return found;
}

void scatter(int *to, const unsigned char *at, int n) {
  for (int i = 0; i < n; i++)
    to[at[i] & 7] = i;
}

void gather(int *to, const int *from, const unsigned char *at, int n) {
  for (int i = 0; i < n; i++)
    to[i] = from[at[i] & 15];
}

void histogram(unsigned *count, const unsigned char *a, int n) {
  for (int i = 0; i < n; i++)
    count[a[i] & 15]++;
}

void weighted_histogram(unsigned *count, const unsigned char *a, const unsigned *weight, int n) {
  for (int i = 0; i < n; i++)
    count[a[i] & 15] += weight[i];
}

void ring(int *to, const int *a, int n, unsigned x) {
  for (int i = 0; i < n; i++)
    to[x++ & 3] = a[i];
}
