/* Header fields of HTTP: a name, a colon, a value, the end of the line.
   hang: a line without a colon at the end of the buffer. */
/* function: fields */
#include <stddef.h>

int fields(const char *text, size_t length) {
    size_t at = 0;
    int count = 0;
    while (at < length) {
        size_t end = at;
        while (end < length && text[end] != '\n') end++;
        size_t colon = at;
        while (colon < end && text[colon] != ':') colon++;
        if (colon < end)
            count = (count + 1) & 63;
#ifndef FIXED
        else if (end == length)
            continue;
#endif
        at = end < length ? end + 1 : end;
    }
    return count;
}
