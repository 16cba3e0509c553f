/* Words between spaces: two inner loops that share a position.
   By hand: 4 * SCALE words of 7 letters. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif

int tokenizer(const char *s) {
    int i = 0, words = 0;
    while (s[i] != 0) {
        int length = 0;
        while (s[i] == ' ')
            i++;
        while (s[i] != 0 && s[i] != ' ') {
            i++;
            length++;
        }
        if (length == 7)
            words++;
    }
    if (words == 4 * SCALE)
        return 1; /* target */
    return 0;
}
