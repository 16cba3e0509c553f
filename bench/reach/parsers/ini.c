/* Sections and keys of a configuration file, byte by byte.
   hang: the file ends in a comment. */
/* function: main */
#include <stdio.h>

int main(void) {
    int c, keys = 0;
    while ((c = getchar()) != EOF) {
        if (c == ';') {
#ifdef FIXED
            while (c != '\n' && c != EOF) c = getchar();
#else
            while (c != '\n') c = getchar();
#endif
        } else if (c == '=')
            keys = (keys + 1) & 1023;
    }
    return keys & 1;
}
