// The loops of bubble sort as one, with a sum.
#include "loop.h"
T final_i, final_j, final_n, final_s, final_pc;
void loop(T i, T j, T n, T s, _Bool pc) {
    while (pc || i < n - 1) {
        if (!pc) {
            AT(1); j = 0; pc = 1;
        } else if (j < n - 1 - i) {
            AT(2); j++; s += j;
        } else {
            AT(3); i++; pc = 0;
        }
    }
    final_i = i; final_j = j; final_n = n; final_s = s; final_pc = pc;
}
