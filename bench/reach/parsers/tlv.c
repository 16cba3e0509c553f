/* Elements of a tag, a length and a value in a buffer; the length counts the whole element.
   hang: a length of 0. */
/* function: elements */
#include <stddef.h>

int elements(const unsigned char *buffer, size_t length) {
    size_t at = 0;
    int count = 0;
    while (at + 2 <= length) {
        size_t size = buffer[at + 1];
#ifdef FIXED
        if (size < 2) return -1;
#endif
        if (size > length - at) return -1;
        if (buffer[at] == 7) count ^= 1;
        at += size;
    }
    return count;
}
