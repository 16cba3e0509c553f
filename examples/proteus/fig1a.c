// Proteus, Fig. 1(a): two paths that take turns. Section 2.2 calls it type 1. Its effects (section 1): none when
// x >= n; x becomes n when x < n <= z; x and z become n when both start below n.
// expect loops fig1a 1
// expect type fig1a:1 1
// expect paths fig1a:1 2
// expect eval fig1a(9, 5, 3) -> 9005
// expect eval fig1a(0, 9, 5) -> 5009
// expect eval fig1a(0, 5, 9) -> 9009
// expect eval fig1a(-3, -8, 2) -> 2002
// expect eval fig1a(0, 5, 1000000) -> 1001000000
long long fig1a(int x, int z, int n) {
    while (x < n) {
        if (z > x)
            x++;
        else
            z++;
    }
    return 1000LL * x + z;
}
