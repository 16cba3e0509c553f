extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 100
#endif

int main(void) {
    int sum = 0;
    for (int i = 0; i < 4 * N; i++) {
        int c = __VERIFIER_nondet_int();
        if (c == 1) sum += 1;
        else if (c == 2) sum += 5;
        else if (c == 3) sum += 25;
    }
    if (sum == 26 * N + 3) reach_error();
    return 0;
}
