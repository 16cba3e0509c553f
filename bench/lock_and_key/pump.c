extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), a = 0, b = 0;
    for (int i = 0; i < n; i++) a++;
    for (int i = 0; i < a; i++) b += 5;
    if (b == 5 * N) reach_error();
    return 0;
}
