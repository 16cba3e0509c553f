extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 100
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), c = 0;
    if (n < 0 || n > 30000) return 0;
    for (int i = 0; i < n; i++) for (int j = 0; j < 10; j++) c++;
    if (c == 10 * N) reach_error();
    return 0;
}
