/* A byte that goes round. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    unsigned char x = __VERIFIER_nondet_int(), steps = 0;
    unsigned char first = x;
    while (x != 0) {
        x += 1;
        steps++;
    }
    if ((unsigned char)(first + steps) != 0)
        reach_error();
    return 0;
}
