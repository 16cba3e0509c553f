/* Words of a command line as a shell splits them; a backslash keeps the next byte.
   hang: a backslash at the end of the buffer. */
/* function: words */
#include <stddef.h>

int words(const char *text, size_t length) {
    size_t at = 0;
    int count = 0, inside = 0;
    while (at < length) {
        if (text[at] == '\\') {
            inside = 1;
            if (at + 1 < length) at += 2;
#ifdef FIXED
            else at++;
#endif
            continue;
        }
        if (text[at] == ' ') {
            count = (count + inside) & 255;
            inside = 0;
        } else
            inside = 1;
        at++;
    }
    return count + inside;
}
