// LoopSCC, Fig. 3(a). One of its branches is never taken.
#include "loop.h"
T final_i, final_x;
void loop(T i, T x) {
    while (i < 100) {
        if (x < 0) {
            AT(1); x += 2; i += 3;
        } else {
            x += 7;
            if (x < 5) {
                AT(3); x += 3; i += 1;
            } else {
                AT(2); x -= 12; i += 2;
            }
        }
    }
    final_i = i; final_x = x;
}
