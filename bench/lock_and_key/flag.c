extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int k = __VERIFIER_nondet_int(), f = 0;
    for (int i = 0; i < 2 * N; i++) if (i == k) f = 1;
    if (f == 1 && k > N) reach_error();
    return 0;
}
