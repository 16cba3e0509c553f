/* Records that begin with their length: a nest with a count that begins anew, and a position that the data move.
   By hand: 3 records of 4 marks and 2 empty ones, times SCALE. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif

int records(const unsigned char *s, int n) {
    int p = 0, count = 0, full = 0;
    while (p < n) {
        int length = s[p++], marks = 0;
        if (length > n - p)
            return -1;
        for (int k = 0; k < length; k++)
            if (s[p + k] == 0xAA)
                marks++;
        p += length;
        if (marks == 4)
            full++;
        count++;
    }
    if (count == 5 * SCALE && full == 3 * SCALE)
        return 1; /* target */
    return 0;
}
