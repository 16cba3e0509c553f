extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), x = 0;
    for (int i = 0; i < n; i++) if (x < N) x += 2;
    else x -= 1;
    if (n > 3 * N && x == N + 1) reach_error();
    return 0;
}
