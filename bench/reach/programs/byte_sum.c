/* The sum of 100 bytes.
   By hand: it is at most 255 * 100, one less than what is asked for. The variant asks for that. */
/* expect: unreachable */
/* variant: -DSUM=25500 -> reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef SUM
#define SUM (25500 * SCALE + 1)
#endif

int byte_sum(const unsigned char *s) {
    int sum = 0;
    for (int i = 0; i < 100 * SCALE; i++)
        sum += s[i];
    if (sum == SUM)
        return 1; /* target */
    return 0;
}
