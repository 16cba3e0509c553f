// LoopSCC, Fig. 7 (t27), as one loop, with a sum.
#include "loop.h"
T final_n, final_y, final_pc, final_s;
void loop(T n, T y, _Bool pc, T s) {
    while (pc || n < 0) {
        if (!pc) {
            AT(1); n++; y += 1000; pc = 1;
        } else if (y >= 100) {
            AT(2); y -= 100; s++;
        } else {
            AT(3); pc = 0;
        }
    }
    final_n = n; final_y = y; final_pc = pc; final_s = s;
}
