// Three states in turn, by a switch.
// expect loops switch_states 1
// expect paths switch_states:1 3
// expect eval switch_states(7, 0) -> 1
// expect eval switch_states(4, 5) -> 0
// expect eval switch_states(0, 9) -> 9
int switch_states(int n, int s) {
    while (n > 0) {
        switch (s) {
        case 0:
            s = 1;
            break;
        case 1:
            s = 2;
            break;
        default:
            s = 0;
        }
        n--;
    }
    return s;
}
