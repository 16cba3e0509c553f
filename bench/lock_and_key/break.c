extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int k = __VERIFIER_nondet_int(), i;
    for (i = 0; i < 1000000000; i++) if (i == k) break;
    if (i == N) reach_error();
    return 0;
}
