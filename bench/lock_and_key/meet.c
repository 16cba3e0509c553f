extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    if (a < 0 || b > 100000000) return 0;
    while (a < b) {
        a++;
        b--;
    }
    if (a == N && a == b + 1) reach_error();
    return 0;
}
