// Each iteration uses up one x and draws a new y, or uses up one y: the pair (x, y) falls lexicographically.
// expect loops main 1
// expect eval main() with 0 -> 0
// expect eval main() with 2, 5, 1, 7, 1 -> 2
// expect eval main() with 1, 2, 0, 0 -> 2
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int x = __VERIFIER_nondet_int();
    int y = x > 0 ? __VERIFIER_nondet_int() : 0;
    unsigned iterations = 0;
    while (x > 0 && y > 0) {
        if (__VERIFIER_nondet_int()) {
            x--;
            y = x > 0 ? __VERIFIER_nondet_int() : 0;
        } else {
            y--;
        }
        iterations++;
    }
    return (int)(iterations & 255);
}
