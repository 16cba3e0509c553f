extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 100
#endif

int main(void) {
    int s = 0, n = 0;
    while (1) {
        int c = __VERIFIER_nondet_int();
        if (c < 0) break;
        switch (s) {
            case 0: if (c == 7) s = 1;
            break;
            case 1: n++;
            if (n == N) s = 2;
            else if (c == 3) s = 0;
            break;
            case 2: if (c == 9) s = 3;
            break;
        }
    }
    if (s == 3) reach_error();
    return 0;
}
