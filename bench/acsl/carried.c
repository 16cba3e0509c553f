/* summarize: a'[j] = a[0] for 1 <= j < n */
/*@ requires 0 <= n && \valid(a + (0 .. n - 1));
    assigns a[0 .. n - 1];
    ensures \forall integer j; 1 <= j < n ==> a[j] == \at(a[0], Pre); */
void carried(int *a, int n) {
  /*@ loop invariant 1 <= i && (i <= n || i == 1);
      loop invariant n > 0 ==> (\forall integer j; 0 <= j < i && j < n ==> a[j] == \at(a[0], Pre));
      loop assigns i, a[0 .. n - 1];
      loop variant n - i; */
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1];
}
