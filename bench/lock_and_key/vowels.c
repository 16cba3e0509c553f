extern void reach_error(void);
extern char __VERIFIER_nondet_char(void);
#ifndef N
#define N 100
#endif

int main(void) {
    int v = 0, n = 0;
    for (;;) {
        char c = __VERIFIER_nondet_char();
        if (c == '.') break;
        n++;
        if (c == 'e' || c == 'o') v++;
    }
    if (v == N && n == 3 * N) reach_error();
    return 0;
}
