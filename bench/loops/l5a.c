// LoopSCC, Fig. 5(a).
#include "loop.h"
T final_i, final_x;
void loop(T i, T x) {
    while (i < 100) {
        if (x < 5) {
            AT(1); x += 2; i += 3;
        } else {
            AT(2); x -= 5; i += 4;
        }
    }
    final_i = i; final_x = x;
}
