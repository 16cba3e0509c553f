/* summarize: a'[j] = a[n - j - 1] for n <= 2*j && j < n, and for 0 <= 2*j < n - 1 */
/*@ requires 0 <= n && \valid(a + (0 .. n - 1));
    assigns a[0 .. n - 1];
    ensures \forall integer j; n <= 2 * j && j < n ==> a[j] == \at(a[n - j - 1], Pre);
    ensures \forall integer j; 0 <= 2 * j < n - 1 ==> a[j] == \at(a[n - j - 1], Pre); */
void reverse(int *a, int n) {
  /*@ loop invariant 0 <= i <= n / 2;
      loop invariant \forall integer j; 0 <= j < i || n - i <= j < n ==> a[j] == \at(a[n - j - 1], Pre);
      loop invariant \forall integer j; i <= j < n - i ==> a[j] == \at(a[j], Pre);
      loop assigns i, a[0 .. n - 1];
      loop variant n / 2 - i; */
  for (int i = 0; i < n / 2; i++) {
    int t = a[i];
    a[i] = a[n - 1 - i];
    a[n - 1 - i] = t;
  }
}
