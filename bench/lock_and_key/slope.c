extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int a = __VERIFIER_nondet_int(), x = 0;
    if (a < 0 || a > 1000) return 0;
    for (int i = 0; i < N; i++) x += a;
    if (x == 37 * N) reach_error();
    return 0;
}
