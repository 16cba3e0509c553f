// Proteus, Fig. 1(b): two independent oscillators. Section 2.2 calls it type 2.
// From 0, a climbs to 6 in 6 steps and then repeats 2 3 4 5 6; j climbs to 8 in 8 steps and then repeats 5 6 7 8.
// expect loops fig1b 1
// expect type fig1b:1 2
// expect paths fig1b:1 4
// expect eval fig1b(0, 0, 0) -> 5008
// expect eval fig1b(98, 0, 0) -> 2002
// expect eval fig1b(100, 3, 4) -> 3004
long long fig1b(int i, int a, int j) {
    while (i < 100) {
        if (a <= 5)
            a++;
        else
            a -= 4;
        if (j < 8)
            j++;
        else
            j -= 3;
        i++;
    }
    return 1000LL * a + j;
}
