/* summarize: a'[j] = b[j] for 0 <= j < n && b[j] > 0, assuming a and b do not overlap */
/*@ requires 0 <= n && \valid(a + (0 .. n - 1)) && \valid_read(b + (0 .. n - 1));
    requires \separated(a + (0 .. n - 1), b + (0 .. n - 1));
    assigns a[0 .. n - 1];
    ensures \forall integer j; 0 <= j < n && \at(b[j], Pre) > 0 ==> a[j] == \at(b[j], Pre);
    ensures \forall integer j; 0 <= j < n && \at(b[j], Pre) <= 0 ==> a[j] == \at(a[j], Pre); */
void guarded(int *a, const int *b, int n) {
  /*@ loop invariant 0 <= i <= n;
      loop invariant \forall integer j; 0 <= j < i && \at(b[j], Pre) > 0 ==> a[j] == \at(b[j], Pre);
      loop invariant \forall integer j; 0 <= j < n && (j >= i || \at(b[j], Pre) <= 0) ==> a[j] == \at(a[j], Pre);
      loop assigns i, a[0 .. n - 1];
      loop variant n - i; */
  for (int i = 0; i < n; i++)
    if (b[i] > 0)
      a[i] = b[i];
}
