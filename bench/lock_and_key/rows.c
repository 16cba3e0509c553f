extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 100
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int(), c = 0;
    if (n < 1 || m < 1 || n > 20000 || m > 20000) return 0;
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) c++;
    if (n == N && c == 3 * n) reach_error();
    return 0;
}
