// An input chooses each step from {1, 3}: bounds, but no exact count. Two paths in any order: type 4.
// expect loops step_by_input 1
// expect type step_by_input:1 4
// expect paths step_by_input:1 2
// expect eval step_by_input(10) with 1, 1, 1, 1 -> 4012
// expect eval step_by_input(3) with 0, 0, 0 -> 3003
// expect eval step_by_input(3) with 0, 1 -> 2004
// expect eval step_by_input(-1) -> 0
extern int __VERIFIER_nondet_int(void);

long long step_by_input(int n) {
    int i = 0, iterations = 0;
    while (i < n) {
        if (__VERIFIER_nondet_int())
            i += 3;
        else
            i += 1;
        iterations++;
    }
    return 1000LL * iterations + i;
}
