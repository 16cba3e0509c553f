// A sum that wraps and decides nothing.
#include "loop.h"
T final_i, final_n, final_x;
void loop(T i, T n, T x) {
    while (i < n) {
        AT(1); x += 3; i++;
    }
    final_i = i; final_n = n; final_x = x;
}
