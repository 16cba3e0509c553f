extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), c = 0, d = 0, e = 0;
    for (int i = 0; i < n; i++) c++;
    while (c > 3) {
        c -= 4;
        d++;
    }
    while (d > 0) {
        d--;
        e += 2;
    }
    if (e == N && c == 1) reach_error();
    return 0;
}
