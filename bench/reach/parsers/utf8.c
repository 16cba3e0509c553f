/* Counts characters of UTF-8.
   hang: a continuation byte that begins a character has a length of 0. */
/* function: characters */
#include <stddef.h>

size_t characters(const unsigned char *text, size_t length) {
    size_t at = 0, count = 0;
    while (at < length) {
        unsigned char c = text[at];
        size_t size = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 0;
#ifdef FIXED
        if (size == 0) size = 1;
#endif
        if (size > length - at) break;
        at += size;
        count++;
    }
    return count;
}
