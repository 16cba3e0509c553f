extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
#ifndef N
#define N 100
#endif

int main(void) {
    unsigned char x = __VERIFIER_nondet_int();
    int c = 0;
    while (x != 77) {
        x += 3;
        c++;
    }
    if (c == N % 256) reach_error();
    return 0;
}
