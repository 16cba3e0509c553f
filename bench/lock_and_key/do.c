extern void reach_error(void);
extern unsigned __VERIFIER_nondet_uint(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    unsigned c = 0;
    do {
        n -= 5;
        c += 2;
    }
    while (n > 5 && n < 4000000000u);
    if (c == 2 * N) reach_error();
    return 0;
}
