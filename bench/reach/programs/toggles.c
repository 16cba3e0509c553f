/* A flag that quotes toggle.
   By hand: 15, 159 or 1599 toggles are odd, so the flag is 1 behind them. */
/* expect: unreachable */
/* variant: -DOPEN=1 -> reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef OPEN
#define OPEN 0
#endif

int toggles(const char *s) {
    int q = 0, quotes = 0;
    for (int i = 0; s[i] != 0; i++)
        if (s[i] == '"') {
            q = 1 - q;
            quotes++;
        }
    if (quotes == 16 * SCALE - 1 && q == OPEN)
        return 1; /* target */
    return 0;
}
