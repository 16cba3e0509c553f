// Proteus, Fig. 1(f), with a number of steps, n, in place of the input that ends it.
#include "loop.h"
T final_s, final_x1, final_x2, final_t, final_n;
void loop(T s, T x1, T x2, T t, T n) {
    while (t < n) {
        if (s == 1)
            x1++;
        else if (s == 2)
            x2++;
        s++;
        if (s == 5)
            s = 1;
        if (s == 1 && x1 != x2)
            goto error;
        t++;
    }
error:
    final_s = s; final_x1 = x1; final_x2 = x2; final_t = t; final_n = n;
}
