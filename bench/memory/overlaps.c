/* Several writes that lie over one another, and elements that move. */

void each_and_the_next(int *a, int n) {
  for (int i = 0; i < n; i++) {
    a[i] = 1;
    a[i + 1] = 2;
  }
}

void from_both_ends(int *a, int n) {
  for (int i = 0; i < n; i++) {
    a[i] = i;
    a[n - 1 - i] = -i;
  }
}

void two_strides(short *a, int n) {
  for (int i = 0; i < n; i++) {
    a[2 * i] = 2;
    a[3 * i] = 3;
  }
}

void one_element_besides(int *a, int n) {
  for (int i = 0; i < n; i++) {
    a[i] = 5;
    a[3] = i;
  }
}

void shift_down(int *a, int n) {
  for (int i = 0; i < n; i++)
    a[i] = a[i + 1];
}

void shift_up(int *a, int n) {
  for (int i = n; i > 0; i--)
    a[i] = a[i - 1];
}

void rotate(short *a, int n) {
  short first = a[0];
  for (int i = 0; i < n; i++)
    a[i] = a[i + 1];
  a[n] = first;
}

void reverse(int *a, int n) {
  for (int i = 0, j = n - 1; i < j; i++, j--) {
    int held = a[i];
    a[i] = a[j];
    a[j] = held;
  }
}

void swap_arrays(char *a, char *b, int n) {
  for (int i = 0; i < n; i++) {
    char held = a[i];
    a[i] = b[i];
    b[i] = held;
  }
}

void swap_neighbours(int *a, int n) {
  for (int i = 0; i + 1 < n; i += 2) {
    int held = a[i];
    a[i] = a[i + 1];
    a[i + 1] = held;
  }
}
