/* summarize: a'[3*j] = 3*j for 0 <= 3*j < n, undefined when n == INT_MAX */
/*@ requires 0 <= n < 2147483645 && \valid(a + (0 .. n - 1));
    assigns a[0 .. n - 1];
    ensures \forall integer j; 0 <= 3 * j < n ==> a[3 * j] == 3 * j;
    ensures \forall integer k; 0 <= k < n && k % 3 != 0 ==> a[k] == \at(a[k], Pre); */
void strided(int *a, int n) {
  /*@ loop invariant 0 <= i <= n + 2 && i % 3 == 0;
      loop invariant \forall integer j; 0 <= 3 * j < i && 3 * j < n ==> a[3 * j] == 3 * j;
      loop invariant \forall integer k; 0 <= k < n && (k >= i || k % 3 != 0) ==> a[k] == \at(a[k], Pre);
      loop assigns i, a[0 .. n - 1];
      loop variant n - i; */
  for (int i = 0; i < n; i += 3) {
    a[i] = i;
    //@ assert \forall integer j; 0 <= 3 * j < i ==> a[3 * j] == 3 * j;
    //@ assert \forall integer j; i <= 3 * j < i + 3 ==> 3 * j == i;
  }
}
