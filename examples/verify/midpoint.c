// The middle of a range as (low + high) / 2: the sum overflows where both ends are large. Every run that does not
// overflow ends, since the range becomes smaller with each iteration.
// expect loops main 1
// expect eval main() with 3, 9, 0, 0, 0 -> 3
// expect eval main() with 3, 4, 1 -> 4
// expect eval main() with 5, 3 -> 0
// expect eval main() with 1073741824, 1073741824 -> 1073741824
// expect eval main() with 1073741824, 2147483647 -> undefined
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int low = __VERIFIER_nondet_int();
    int high = __VERIFIER_nondet_int();
    if (low < 0 || high < low)
        return 0;
    while (low < high) {
        int middle = (low + high) / 2;
        if (__VERIFIER_nondet_int())
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
