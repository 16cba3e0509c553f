extern void reach_error(void);
extern char __VERIFIER_nondet_char(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    const char *p = "open sesame";
    int s = 0;
    for (int i = 0; i < N; i++) {
        char c = __VERIFIER_nondet_char();
        if (c == p[s]) s++;
        else s = 0;
        if (s == 11) reach_error();
    }
    return 0;
}
