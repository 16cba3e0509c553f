// Nothing that the condition reads ever changes: for x > 0 it never ends, and the unsigned counter may wrap for ever.
// expect loops never_ends 1
// expect type never_ends:1 1
// expect paths never_ends:1 1
// expect eval never_ends(0, 3) -> 3
// expect eval never_ends(-4, 3) -> 3
// expect eval never_ends(1, 3) -> diverges
unsigned never_ends(int x, unsigned y) {
    while (x > 0)
        y++;
    return y;
}
