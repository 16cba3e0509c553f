/* summarize: a'[j] = a[j + 1] for 0 <= j < n - 1 */
/*@ requires 0 <= n && \valid(a + (0 .. n - 1));
    assigns a[0 .. n - 1];
    ensures \forall integer j; 0 <= j < n - 1 ==> a[j] == \at(a[j + 1], Pre); */
void shift(int *a, int n) {
  /*@ loop invariant 0 <= i && (i < n || i == 0);
      loop invariant \forall integer j; 0 <= j < i ==> a[j] == \at(a[j + 1], Pre);
      loop invariant \forall integer j; i <= j < n ==> a[j] == \at(a[j], Pre);
      loop assigns i, a[0 .. n - 1];
      loop variant n - i; */
  for (int i = 0; i + 1 < n; i++) {
    a[i] = a[i + 1];
  }
}
