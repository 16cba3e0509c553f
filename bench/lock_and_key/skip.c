extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 100
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), i = 0, c = 0;
    while (i < n) {
        while (i < n && i % 10 != 9) i++;
        i++;
        c++;
    }
    if (c == N && n % 10 == 5) reach_error();
    return 0;
}
