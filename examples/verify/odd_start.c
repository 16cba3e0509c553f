// Steps of 2 miss 10 from an odd start, and wrap around for ever; from an even one they come to 10 at last.
// expect loops main 1
// expect eval main() with 10 -> 0
// expect eval main() with 4 -> 0
// expect eval main() with 7 -> diverges
extern unsigned __VERIFIER_nondet_uint(void);

int main(void) {
    unsigned x = __VERIFIER_nondet_uint();
    while (x != 10)
        x += 2;
    return 0;
}
