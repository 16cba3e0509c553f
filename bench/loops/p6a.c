// Proteus, Fig. 6(a), when no input ends it early.
#include "loop.h"
T final_i, final_j, final_m, final_n;
void loop(T i, T j, T m, T n) {
    while (i < n) {
        if (j < m) {
            AT(1); j++;
        } else {
            AT(2); j = 0; i++;
        }
    }
    final_i = i; final_j = j; final_m = m; final_n = n;
}
