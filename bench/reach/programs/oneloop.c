/* CBA, section 4: "The OneLoop benchmark consists of simple loop in which the variable i, with initial value 0, is increased
   by 4 in every iteration. Once the loop is finished we check whether i==15, which is false for any value of the input
   variable n."
   Left free: nothing but the type. x10 and x100: 159 and 1599.
   By hand: i is a multiple of 4, and the number is odd. */
/* expect: unreachable */
#ifndef SCALE
#define SCALE 1
#endif

int oneloop(int n) {
    int i = 0;
    while (i < n)
        i += 4;
    if (i == 16 * SCALE - 1)
        return 1; /* target */
    return 0;
}
