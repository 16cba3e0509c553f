/* A decoder of run lengths: pairs of a count and a byte.
   hang: a count of 0 wraps around, and its byte is asked for again where the input has ended. */
/* function: main */
#include <stdio.h>

int main(void) {
    unsigned char out[256];
    unsigned used = 0;
    int count;
    while ((count = getchar()) != EOF) {
        int byte = getchar();
#ifdef FIXED
        if (byte == EOF) break;
#else
        while (byte == EOF) byte = getchar();
#endif
        for (int i = 0; i < count && used < sizeof out; i++) out[used++] = (unsigned char)byte;
    }
    return used & 1;
}
