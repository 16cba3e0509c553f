extern void reach_error(void);
extern unsigned __VERIFIER_nondet_uint(void);
#ifndef N
#define N 1000
#endif

int main(void) {
    unsigned x = __VERIFIER_nondet_uint(), c = 0;
    while (x != 0) {
        x += 2;
        c++;
        if (c > N) break;
    }
    if (c == N) reach_error();
    return 0;
}
