// The usual pointer walk up to an end pointer.
// expect loops pointer_walk 1
// expect type pointer_walk:1 1
// expect paths pointer_walk:1 1
// expect eval pointer_walk([1, 2, 3], 3) -> 3
// expect eval pointer_walk([1, 2, 3], 0) -> 0
int pointer_walk(const char *s, int length) {
    const char *send = s + length;
    int count = 0;
    while (s < send) {
        s++;
        count++;
    }
    return count;
}
