// LoopSCC, Fig. 5(a), with a limit that is not known.
#include "loop.h"
T final_i, final_x, final_n;
void loop(T i, T x, T n) {
    while (i < n) {
        if (x < 5) {
            AT(1); x += 2; i += 3;
        } else {
            AT(2); x -= 5; i += 4;
        }
    }
    final_i = i; final_x = x; final_n = n;
}
