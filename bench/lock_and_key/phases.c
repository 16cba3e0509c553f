extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), x = 0, y = 50;
    if (n > 100000000) return 0;
    while (x < n) {
        x++;
        if (x > N) y++;
    }
    if (y == 60) reach_error();
    return 0;
}
