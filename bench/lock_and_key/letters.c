extern void reach_error(void);
extern char __VERIFIER_nondet_char(void);
#ifndef N
#define N 100
#endif

int main(void) {
    int a = 0, b = 0;
    for (int i = 0; i < 5 * N; i++) {
        char c = __VERIFIER_nondet_char();
        if (c == 'a') a++;
        else if (c == 'b') b++;
    }
    if (a == N && b == 2 * N) reach_error();
    return 0;
}
