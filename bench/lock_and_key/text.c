extern void reach_error(void);
extern char __VERIFIER_nondet_char(void);
#ifndef N
#define N 100
#endif

int main(void) {
    int a = 0, b = 0;
    char c;
    while ((c = __VERIFIER_nondet_char()) != 0) {
        if (c == 'a') a++;
        else if (c == 'b') b++;
    }
    if (a == N && b == 2 * a) reach_error();
    return 0;
}
