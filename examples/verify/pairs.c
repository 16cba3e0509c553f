// The pairs of n things: the inner loop runs i times for each i below n, so n * (n - 1) / 2 in all.
// expect loops main 2
// expect eval main() with 0 -> 0
// expect eval main() with 5 -> 10
// expect eval main() with 300 -> 44850
// expect eval main() with 1001 -> -1
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 1000)
        return -1;
    int pairs = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            pairs++;
    if (2 * pairs != n * (n - 1))
        reach_error();
    return pairs;
}
