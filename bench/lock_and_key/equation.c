extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int x = __VERIFIER_nondet_int(), z = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int();
    if (x + z != n - 100 || x < -N || x > N || z < -N || z > N) return 0;
    while (x < n) {
        if (z > x) x++;
        else z++;
    }
    if (z == N / 2 && n == N / 2) reach_error();
    return 0;
}
