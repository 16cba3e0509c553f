// The only way out is a failing check.
// expect loops error_exit 1
// expect paths error_exit:1 1
// expect eval error_exit(0, 5) -> error-reached
// expect eval error_exit(7, 7) -> error-reached
// expect eval error_exit(2147483647, 0) -> undefined
extern void reach_error(void);

int error_exit(int i, int n) {
    while (1) {
        if (i == n)
            reach_error();
        i++;
    }
}
