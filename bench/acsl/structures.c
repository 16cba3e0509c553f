/* summarize: p'[j].x = j for 0 <= j < n, p'[j].y = -1 for 0 <= j < n */
struct P {
  int x;
  short y;
};
/*@ requires 0 <= n && \valid(p + (0 .. n - 1));
    assigns p[0 .. n - 1];
    ensures \forall integer j; 0 <= j < n ==> p[j].x == j;
    ensures \forall integer j; 0 <= j < n ==> p[j].y == -1; */
void structures(struct P *p, int n) {
  /*@ loop invariant 0 <= i <= n;
      loop invariant \forall integer j; 0 <= j < i ==> p[j].x == j;
      loop invariant \forall integer j; 0 <= j < i ==> p[j].y == -1;
      loop assigns i, p[0 .. n - 1];
      loop variant n - i; */
  for (int i = 0; i < n; i++) {
    p[i].x = i;
    p[i].y = -1;
  }
}
