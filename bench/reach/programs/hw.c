/* CBA, section 4: "HW and Hello are simplified versions of the HWM benchmark, looking for the first two words (one word)
   only."
   Left free: how it scans. Here each word has a loop of its own from the start of the string, with a state that counts the
   letters that fit. x10 and x100: the first word begins 90 and 990 characters in, or later.
   By hand: World and, from there on, Hello; each loop looks at all of the string. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef FROM
#define FROM (10 * (SCALE - 1))
#endif

int hw(const char *s) {
    int a = 0, b = 0;
    for (int i = 0; s[i] != 0 && a < 5; i++)
        if (s[i] == "Hello"[a] && i >= FROM)
            a++;
        else
            a = 0;
    for (int i = 0; s[i] != 0 && b < 5; i++)
        if (s[i] == "World"[b])
            b++;
        else
            b = 0;
    if (a == 5 && b == 5)
        return 1; /* target */
    return 0;
}
