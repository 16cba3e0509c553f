extern void reach_error(void);
extern unsigned __VERIFIER_nondet_uint(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    unsigned x = __VERIFIER_nondet_uint();
    while (x < 10 * N) {
        if (x < N) x++;
        else x += 2;
    }
    if (x == 10 * N + 1) reach_error();
    return 0;
}
