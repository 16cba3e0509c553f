/* summarize: a'[j] = a[j] + j for 0 <= j < n, when all(k < n: fits_int(a[k] + k)) && n > 0 */
/*@ requires 0 <= n && \valid(a + (0 .. n - 1));
    requires \forall integer k; 0 <= k < n ==> a[k] + k <= 2147483647;
    assigns a[0 .. n - 1];
    ensures \forall integer j; 0 <= j < n ==> a[j] == \at(a[j], Pre) + j; */
void in_place(int *a, int n) {
  /*@ loop invariant 0 <= i <= n;
      loop invariant \forall integer j; 0 <= j < i ==> a[j] == \at(a[j], Pre) + j;
      loop invariant \forall integer j; i <= j < n ==> a[j] == \at(a[j], Pre);
      loop assigns i, a[0 .. n - 1];
      loop variant n - i; */
  for (int i = 0; i < n; i++)
    a[i] += i;
}
