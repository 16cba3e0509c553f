/* Members of structures, bytes of wider elements, and what the library writes. */

#include <string.h>

struct item {
  int key;
  short count;
  unsigned char flag[2];
};

void one_member(int *raw, int n) {
  struct item *p = (struct item *)raw;
  for (int i = 0; i < n; i++)
    p[i].count = i;
}

void member_from_member(int *raw, int n) {
  struct item *p = (struct item *)raw;
  for (int i = 0; i < n; i++) {
    p[i].key = p[i].count + 1;
    p[i].flag[1] = 0;
  }
}

void whole_items(int *raw, int n) {
  struct item *p = (struct item *)raw;
  for (int i = 0; i < n; i++)
    p[i] = p[i + 1];
}

void low_bytes(int *a, int n) {
  unsigned char *bytes = (unsigned char *)a;
  for (int i = 0; i < n; i++)
    bytes[4 * i] = 0;
}

void bytes_of_a_number(unsigned char *to, int n, unsigned x) {
  for (int i = 0; i < n && i < 4; i++)
    to[i] = x >> 8 * i;
}

void clear_rows(char *m, int n) {
  for (int i = 0; i < n; i++)
    memset(m + 4 * i, 0, 3);
}

void copy_rows(char *to, const char *m, int n) {
  for (int i = 0; i < n; i++)
    memcpy(to + 4 * i, m, 4);
}
