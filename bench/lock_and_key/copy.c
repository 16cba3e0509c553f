extern void reach_error(void);
extern unsigned __VERIFIER_nondet_uint(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    unsigned n = __VERIFIER_nondet_uint(), k = 0, j = 0;
    if (n > 100000000) return 0;
    for (unsigned i = 0; i < n; i += 3) k++;
    while (k > 0) {
        k--;
        j += 3;
    }
    if (j == n + 2 && j > N) reach_error();
    return 0;
}
