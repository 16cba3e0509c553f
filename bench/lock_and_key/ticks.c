extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 100
#endif

int main(void) {
    int t = 0, k = __VERIFIER_nondet_int();
    while (t < k) {
        if (__VERIFIER_nondet_int() == 42) t += 2;
        else t += 1;
    }
    if (t == k + 1 && k == N) reach_error();
    return 0;
}
