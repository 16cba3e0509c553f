/* CBA, section 4: "TwoLoops is an extension of the previous benchmark by adding a second loop, whose loop condition depends
   on the value computed in the first loop."
   Left free: the step of the second loop. Here 2.
   By hand: j is even, and the number is odd. */
/* expect: unreachable */
#ifndef SCALE
#define SCALE 1
#endif

int twoloops(int n) {
    int i = 0, j = 0;
    while (i < n)
        i += 4;
    while (j < i)
        j += 2;
    if (j == 16 * SCALE - 1)
        return 1; /* target */
    return 0;
}
