// LoopSCC, Fig. 1(c), with a sum.
#include "loop.h"
T final_i, final_x, final_s;
void loop(T i, T x, T s) {
    while (i < 100) {
        if (x >= 50) {
            AT(1); x -= 2; i += 3; s += 1;
        } else if (x < 0) {
            AT(2); x += 1; i += 5; s += 2;
        } else {
            AT(3); x += 11; i += 7; s += 3;
        }
    }
    final_i = i; final_x = x; final_s = s;
}
