/* Elements and members that no iteration moves. */

struct counter {
  int seen;
  int last;
};

struct text {
  int length;
  char held[60];
};

void sum_in_a_cell(unsigned *sum, const unsigned *a, int n) {
  sum[n] = 0;
  for (int i = 0; i < n; i++)
    sum[n] += a[i];
}

void greatest_in_a_cell(int *a, int n) {
  for (int i = 1; i < n; i++)
    if (a[i] > a[0])
      a[0] = a[i];
}

void last_in_a_cell(short *a, const short *b, int n) {
  for (int i = 0; i < n; i++)
    a[n & 1] = b[i];
}

void members(int *raw, const int *a, int n) {
  struct counter *s = (struct counter *)raw;
  for (int i = 0; i < n; i++)
    if (a[i] > 0) {
      s->seen++;
      s->last = a[i];
    }
}

void append_by_a_member(char *raw, const char *more, int n) {
  struct text *s = (struct text *)(raw);
  s->length = 0;
  for (int i = 0; i < n; i++)
    s->held[s->length++] = more[i];
}
