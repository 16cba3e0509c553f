/* CBA, section 4: "The HWM benchmark accepts a C string as an input and scans the string for the presence of substrings
   "Hello", "World", "At" and "Microsoft!". HW and Hello are simplified versions of the HWM benchmark, looking for the first
   two words (one word) only."
   Left free: how it scans. Here each word has a loop of its own from the start of the string, with a state that counts the
   letters that fit. x10 and x100: the first word begins 90 and 990 characters in, or later.
   By hand: any string with Hello from there on. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef FROM
#define FROM (10 * (SCALE - 1))
#endif

int hello(const char *s) {
    int a = 0;
    for (int i = 0; s[i] != 0 && a < 5; i++)
        if (s[i] == "Hello"[a] && i >= FROM)
            a++;
        else
            a = 0;
    if (a == 5)
        return 1; /* target */
    return 0;
}
