extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int a = __VERIFIER_nondet_int(), k = __VERIFIER_nondet_int(), c = 0;
    if (a != 31337) return 0;
    for (int i = 0; i < k; i++) c++;
    if (c == N) reach_error();
    return 0;
}
