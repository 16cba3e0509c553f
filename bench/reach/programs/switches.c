/* How often a text switches between digits and others, exactly.
   By hand: at SCALE 1 five groups of digits, the last one at the end, with 20 digits in all; in general half as many groups
   as changes, rounded up, which 20 * SCALE digits can fill. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef DIGITS
#define DIGITS (20 * SCALE)
#endif
#ifndef CHANGES
#define CHANGES (9 * SCALE)
#endif

int switches(const unsigned char *s, unsigned n) {
    int digits = 0, changes = 0, in_digits = 0;
    for (unsigned i = 0; i < n; i++) {
        int digit = s[i] >= '0' && s[i] <= '9';
        if (digit != in_digits)
            changes++;
        in_digits = digit;
        if (digit)
            digits++;
    }
    if (digits == DIGITS && changes == CHANGES)
        return 1; /* target */
    return 0;
}
