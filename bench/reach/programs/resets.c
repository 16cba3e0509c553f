/* Commands, one of which begins the count of another anew.
   By hand: 3 * SCALE ones, and 5 * SCALE twos behind the last of them. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif

int resets(const int *command, int n) {
    int logins = 0, failed = 0;
    for (int i = 0; i < n; i++) {
        if (command[i] == 1) {
            logins++;
            failed = 0;
        } else if (command[i] == 2) {
            failed++;
        }
    }
    if (logins == 3 * SCALE && failed == 5 * SCALE)
        return 1; /* target */
    return 0;
}
