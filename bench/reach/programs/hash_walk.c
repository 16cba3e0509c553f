/* Chains of a hash table as deflate has them: each look chooses the next place.
   By hand: previous[j] = j for a j that is not 0, and j as the head of 3 * SCALE of n = 3 * SCALE chains. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif

int hash_walk(const unsigned char *head, int n, const unsigned char *previous) {
    int longs = 0;
    for (int i = 0; i < n; i++) {
        int length = 0;
        unsigned j = head[i];
        while (j != 0 && length < 8) {
            j = previous[j & 31];
            length++;
        }
        if (length == 8)
            longs++;
    }
    if (longs == 3 * SCALE)
        return 1; /* target */
    return 0;
}
