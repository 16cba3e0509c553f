extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), x = 0;
    if (n > 100000000) return 0;
    for (int i = 0; i < n; i++) {
        x++;
        if (x == 10) x = 0;
    }
    if (x == 7 && n > N) reach_error();
    return 0;
}
