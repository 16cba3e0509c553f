extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), c = 0;
    while (n > 0) {
        n -= 3;
        c++;
    }
    if (c == N && n == -2) reach_error();
    return 0;
}
