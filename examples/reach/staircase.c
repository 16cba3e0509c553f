// A lift that goes up by 2 or 4 floors or down by 6 stays on even floors.
// expect loops staircase 1
// expect eval staircase([0, 1, 2], 3) -> 0
// expect eval staircase([1, 1, 0, 5], 4) -> 4
// expect eval staircase([], 0) -> 0
int staircase(const unsigned char *button, int n) {
    int floor = 0;
    for (int i = 0; i < n; i++) {
        if (button[i] == 0)
            floor += 2;
        else if (button[i] == 1)
            floor += 4;
        else
            floor -= 6;
    }
    if (floor == 101)
        return -1;
    if (floor == 100 && n == 60)
        return -2;
    return floor;
}
