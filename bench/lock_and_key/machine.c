extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    int s = 0;
    for (int i = 0; i < N; i++) {
        int c = __VERIFIER_nondet_int();
        switch (s) {
            case 0: if (c == 7) s = 1;
            break;
            case 1: if (c == 3) s = 2;
            else s = 0;
            break;
            case 2: if (c == 9) s = 3;
            else s = 0;
            break;
        }
    }
    if (s == 3) reach_error();
    return 0;
}
