extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int(), c = 0;
    for (int i = 0; i < n; i++) c++;
    for (int i = 0; i < m; i++) c++;
    if (c == N && n == m + 4) reach_error();
    return 0;
}
