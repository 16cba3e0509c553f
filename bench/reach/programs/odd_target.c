/* Steps of 2, 4 and -6 that the input chooses.
   By hand: x stays even, and the number is odd. */
/* expect: unreachable */
#ifndef SCALE
#define SCALE 1
#endif

int odd_target(const int *in, int n) {
    int x = 0;
    for (int i = 0; i < n; i++) {
        if (in[i] == 0)
            x += 2;
        else if (in[i] == 1)
            x += 4;
        else
            x -= 6;
    }
    if (x == 100 * SCALE + 1)
        return 1; /* target */
    return 0;
}
