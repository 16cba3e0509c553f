extern void reach_error(void);
extern char __VERIFIER_nondet_char(void);
#ifndef N
#define N 100
#endif

int main(void) {
    int open = 0, most = 0;
    char c;
    while ((c = __VERIFIER_nondet_char()) != 0) {
        if (c == '(') open++;
        else if (c == ')') open--;
        if (open > most) most = open;
        if (open < 0) return 0;
    }
    if (open == 0 && most == N) reach_error();
    return 0;
}
