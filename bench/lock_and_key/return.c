extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int k = __VERIFIER_nondet_int();
    for (int i = 0; i < 2 * N; i++) {
        if (i * 3 == k) {
            if (i == N + 1) reach_error();
            return 0;
        }
    }
    return 0;
}
