extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), m = 0;
    for (int i = 0; i < n; i++) if (i > m) m = i;
    if (m == N) reach_error();
    return 0;
}
