/* Two classes of bytes with exact counts, in a text of any length.
   By hand: 30 digits and 20 small letters, times SCALE, in any order. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif

int classes(const unsigned char *s, unsigned n) {
    int digits = 0, letters = 0;
    for (unsigned i = 0; i < n; i++) {
        if (s[i] >= '0' && s[i] <= '9')
            digits++;
        else if (s[i] >= 'a' && s[i] <= 'z')
            letters++;
    }
    if (digits == 30 * SCALE && letters == 20 * SCALE)
        return 1; /* target */
    return 0;
}
