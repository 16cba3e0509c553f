// A sum of squares.
#include "loop.h"
T final_i, final_n, final_s;
void loop(T i, T n, T s) {
    while (i < n) {
        AT(1); s += i * i; i++;
    }
    final_i = i; final_n = n; final_s = s;
}
