// Proteus, section 3.1: a loop whose only iterative path is a terminal state; from below 10 it never ends.
// expect loops terminal_state 1
// expect paths terminal_state:1 1
// expect eval terminal_state(3) -> diverges
// expect eval terminal_state(10) -> 10
// expect eval terminal_state(25) -> 25
int terminal_state(int i) {
    while (i < 10)
        i = 0;
    return i;
}
