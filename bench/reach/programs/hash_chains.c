/* A table of chains, one behind the other, each ended by 0: a nest with a count that begins anew.
   By hand: 3 chains of 4 links and 2 that are empty, times SCALE. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif

int hash_chains(const unsigned short *link, int n) {
    int chains = 0, longs = 0;
    for (int p = 0; p < n; p++) {
        int length = 0;
        while (p < n && link[p] != 0) {
            length++;
            p++;
        }
        if (length == 4)
            longs++;
        chains++;
    }
    if (chains == 5 * SCALE && longs == 3 * SCALE)
        return 1; /* target */
    return 0;
}
