// Two ways out of the body, one of them out of the function.
// expect loops several_exits 1
// expect type several_exits:1 1
// expect paths several_exits:1 1
// expect eval several_exits(90, 100) -> 102096
// expect eval several_exits(90, 1) -> -1
// expect eval several_exits(101, -5) -> 100995
long long several_exits(int x, int y) {
    while (1) {
        if (x > 100)
            break;
        if (y < 0)
            return -1;
        x += 3;
        y--;
    }
    return 1000LL * x + y;
}
