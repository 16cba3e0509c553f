/* More switches than the digits allow.
   By hand: each group of digits has at least one and is begun and ended by one switch, so d digits make at most 2 * d. */
/* expect: unreachable */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef DIGITS
#define DIGITS (10 * SCALE)
#endif
#ifndef CHANGES
#define CHANGES (20 * SCALE + 2)
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
