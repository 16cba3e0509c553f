// Options of a packet: a kind, then the length of kind and length and what follows. A length of 0 does not advance.
// expect loops options 1
// expect eval options([0], 1) -> 0
// expect eval options([5], 1) -> -1
// expect eval options([5, 3, 9, 0], 4) -> 1
// expect eval options([5, 2, 7, 2], 4) -> 2
int options(const unsigned char *opt, unsigned len) {
    const unsigned char *p = opt;
    unsigned left = len;
    int seen = 0;
    while (left > 0) {
        if (p[0] == 0)
            return seen;
        if (left < 2 || p[1] > left)
            return -1;
        left -= p[1];
        p += p[1];
        seen++;
    }
    return seen;
}
