// LoopSCC, Fig. 5(a), with a sum that goes up and down.
#include "loop.h"
T final_i, final_x, final_s;
void loop(T i, T x, T s) {
    while (i < 100) {
        if (x < 5) {
            AT(1); x += 2; i += 3; s += 3;
        } else {
            AT(2); x -= 5; i += 4; s -= 1;
        }
    }
    final_i = i; final_x = x; final_s = s;
}
