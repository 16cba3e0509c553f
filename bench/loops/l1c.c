// LoopSCC, Fig. 1(c).
#include "loop.h"
T final_i, final_x;
void loop(T i, T x) {
    while (i < 100) {
        if (x >= 50) {
            AT(1); x -= 2; i += 3;
        } else if (x < 0) {
            AT(2); x += 1; i += 5;
        } else {
            AT(3); x += 11; i += 7;
        }
    }
    final_i = i; final_x = x;
}
