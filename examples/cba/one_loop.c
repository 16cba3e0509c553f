// CBA, section 4 (OneLoop): i grows from 0 in steps of 4, so it is never 15 afterwards.
// expect loops one_loop 1
// expect type one_loop:1 1
// expect paths one_loop:1 1
// expect eval one_loop(15) -> 16
// expect eval one_loop(16) -> 16
// expect eval one_loop(0) -> 0
// expect eval one_loop(-7) -> 0
extern void reach_error(void);

int one_loop(int n) {
    int i = 0;
    while (i < n)
        i += 4;
    if (i == 15)
        reach_error();
    return i;
}
