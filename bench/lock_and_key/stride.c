extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), c = 0;
    for (int i = 0; i < n; i += 7) c++;
    if (c == N && n % 7 == 3) reach_error();
    return 0;
}
