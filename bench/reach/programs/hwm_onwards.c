/* As hwm.c, the other reading of the sentence: each scan goes on behind the word before.
   By hand: HelloWorldAtMicrosoft!, behind as many spaces as it takes. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef FROM
#define FROM (10 * (SCALE - 1))
#endif

int hwm_onwards(const char *s) {
    int a = 0, b = 0, c = 0, d = 0, i = 0;
    for (; s[i] != 0 && a < 5; i++)
        if (s[i] == "Hello"[a] && i >= FROM)
            a++;
        else
            a = 0;
    for (; s[i] != 0 && b < 5; i++)
        if (s[i] == "World"[b])
            b++;
        else
            b = 0;
    for (; s[i] != 0 && c < 2; i++)
        if (s[i] == "At"[c])
            c++;
        else
            c = 0;
    for (; s[i] != 0 && d < 10; i++)
        if (s[i] == "Microsoft!"[d])
            d++;
        else
            d = 0;
    if (d == 10)
        return 1; /* target */
    return 0;
}
