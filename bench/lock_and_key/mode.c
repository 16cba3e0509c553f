extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), m = 0, c = 0;
    for (int i = 0; i < n; i++) {
        if (m == 0) {
            c++;
            m = 1;
        }  else m = 0;
    }
    if (c == N && m == 1) reach_error();
    return 0;
}
