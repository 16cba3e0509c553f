// Steps of 3 towards 3: from 0 there is one iteration. A start that never meets 3 overflows in the end.
// expect loops not_equal_step 1
// expect type not_equal_step:1 1
// expect eval not_equal_step(0) -> 1
// expect eval not_equal_step(3) -> 0
// expect eval not_equal_step(-3) -> 2
// expect eval not_equal_step(2147483646) -> undefined
int not_equal_step(int i) {
    int iterations = 0;
    while (i != 3) {
        i += 3;
        iterations++;
    }
    return iterations;
}
