/* CBA, section 4: "The HWM benchmark accepts a C string as an input and scans the string for the presence of substrings
   "Hello", "World", "At" and "Microsoft!"."
   Left free: how it scans. Here each word has a loop of its own from the start of the string, with a state that counts the
   letters that fit. x10 and x100: the first word begins 90 and 990 characters in, or later.
   By hand: HelloWorldAtMicrosoft!, behind as many spaces as it takes. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef FROM
#define FROM (10 * (SCALE - 1))
#endif

int hwm(const char *s) {
    int a = 0, b = 0, c = 0, d = 0;
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
    for (int i = 0; s[i] != 0 && c < 2; i++)
        if (s[i] == "At"[c])
            c++;
        else
            c = 0;
    for (int i = 0; s[i] != 0 && d < 10; i++)
        if (s[i] == "Microsoft!"[d])
            d++;
        else
            d = 0;
    if (a == 5 && b == 5 && c == 2 && d == 10)
        return 1; /* target */
    return 0;
}
