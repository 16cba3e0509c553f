/* A decoder of base 64 that skips the ends of lines.
   hang: padding in the middle of a group. */
/* function: decode */
#include <stddef.h>

static int value(unsigned char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

size_t decode(const unsigned char *text, size_t length) {
    size_t at = 0, bytes = 0;
    unsigned group = 0;
    int have = 0;
    while (at < length) {
        unsigned char c = text[at];
        if (c == '\n' || c == '\r') { at++; continue; }
        if (c == '=') {
#ifdef FIXED
            break;
#else
            if (have >= 2) break;
            continue;
#endif
        }
        if (value(c) < 0) return 0;
        group = (group << 6 | (unsigned)value(c)) & 0xffffff;
        have = (have + 1) & 3;
        if (have == 0) bytes += 3;
        at++;
    }
    return bytes + (size_t)have;
}
