/* summarize: a'[j] = 2*b[j] for 0 <= j < n,
   when all(k < n: b[k] >= -1073741824 && b[k] <= 1073741823) && n > 0, assuming a and b do not overlap */
/*@ requires 0 <= n && \valid(a + (0 .. n - 1)) && \valid_read(b + (0 .. n - 1));
    requires \separated(a + (0 .. n - 1), b + (0 .. n - 1));
    requires \forall integer k; 0 <= k < n ==> -1073741824 <= b[k] <= 1073741823;
    assigns a[0 .. n - 1];
    ensures \forall integer j; 0 <= j < n ==> a[j] == 2 * \at(b[j], Pre); */
void map(int *a, const int *b, int n) {
  /*@ loop invariant 0 <= i <= n;
      loop invariant \forall integer j; 0 <= j < i ==> a[j] == 2 * \at(b[j], Pre);
      loop assigns i, a[0 .. n - 1];
      loop variant n - i; */
  for (int i = 0; i < n; i++)
    a[i] = 2 * b[i];
}
