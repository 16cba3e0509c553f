extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), f = 0;
    for (int i = 0; i < n; i++) f = !f;
    if (f == 1 && n > N) reach_error();
    return 0;
}
