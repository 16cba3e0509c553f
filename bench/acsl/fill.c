/* summarize: a'[j] = 7 for 0 <= j < n */
/*@ requires 0 <= n && \valid(a + (0 .. n - 1));
    assigns a[0 .. n - 1];
    ensures \forall integer j; 0 <= j < n ==> a[j] == 7; */
void fill(int *a, int n) {
  /*@ loop invariant 0 <= i <= n;
      loop invariant \forall integer j; 0 <= j < i ==> a[j] == 7;
      loop assigns i, a[0 .. n - 1];
      loop variant n - i; */
  for (int i = 0; i < n; i++)
    a[i] = 7;
}
