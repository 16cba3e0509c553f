// Euclid by subtraction: each step depends on the other variable. With a zero on one side it never ends.
// expect loops gcd 1
// expect paths gcd:1 2
// expect eval gcd(12, 18) -> 6
// expect eval gcd(7, 7) -> 7
// expect eval gcd(1000000, 1) -> 1
// expect eval gcd(5, 0) -> diverges
int gcd(int a, int b) {
    while (a != b) {
        if (a > b)
            a -= b;
        else
            b -= a;
    }
    return a;
}
