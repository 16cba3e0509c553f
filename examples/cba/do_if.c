// CBA, section 4 (DOIF, described in words there): each element of the input chooses one of four actions.
// expect loops do_if 1
// expect type do_if:1 4
// expect paths do_if:1 4
// expect eval do_if([1, 2, 3, 4, 1], 5) -> 20101
// expect eval do_if([3, 3], 2) -> 2
// expect eval do_if([5], 0) -> 0
long long do_if(const int *in, int n) {
    int a = 0, b = 0, c = 0;
    for (int i = 0; i < n; i++) {
        if (in[i] == 1)
            a++;
        else if (in[i] == 2)
            b++;
        else if (in[i] == 3)
            c++;
    }
    return 10000LL * a + 100LL * b + c;
}
