// A body that runs at least once: one more time than there are iterations in the glossary's sense.
// expect loops do_while 1
// expect type do_while:1 1
// expect paths do_while:1 1
// expect eval do_while(20) -> 2999
// expect eval do_while(-5) -> 988
// expect eval do_while(0) -> 993
// expect eval do_while(-2147483647) -> undefined
long long do_while(int x) {
    int runs = 0;
    do {
        x -= 7;
        runs++;
    } while (x >= 0);
    return 1000LL * runs + x;
}
