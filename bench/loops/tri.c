// A triangular nest as one loop: c counts the inner iterations.
#include "loop.h"
T final_i, final_j, final_n, final_c, final_pc;
void loop(T i, T j, T n, T c, _Bool pc) {
    while (pc || i < n) {
        if (!pc) {
            AT(1); j = 0; pc = 1;
        } else if (j < i) {
            AT(2); j++; c++;
        } else {
            AT(3); i++; pc = 0;
        }
    }
    final_i = i; final_j = j; final_n = n; final_c = c; final_pc = pc;
}
