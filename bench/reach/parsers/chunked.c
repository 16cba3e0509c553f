/* Lengths of chunks in hexadecimal, each before its chunk, as in HTTP (RFC 9112, 7.1).
   hang: a letter that is no digit is left where it is, and reads as a chunk of 0 bytes. */
/* function: chunks */
#include <stddef.h>

static int digit(unsigned char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

size_t chunks(const unsigned char *text, size_t length) {
    size_t at = 0, total = 0;
    while (at < length) {
        size_t size = 0;
        int digits = 0;
        while (at < length && digits < 4 && digit(text[at]) >= 0) {
            size = 16 * size + (size_t)digit(text[at]);
            at++;
            digits++;
        }
#ifdef FIXED
        if (digits == 0) return total;
#endif
        if (size > length - at) return total;
        at += size;
        total += size;
    }
    return total;
}
