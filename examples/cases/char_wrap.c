// A signed char that is incremented is converted back from int: it wraps at 127, after 128 iterations from 0.
// expect loops char_wrap 1
// expect eval char_wrap(0) -> 128
// expect eval char_wrap(127) -> 1
// expect eval char_wrap(-1) -> 0
int char_wrap(signed char b) {
    int iterations = 0;
    while (b >= 0) {
        b++;
        iterations++;
    }
    return iterations;
}
