// LoopSCC, Fig. 7 (t30).
#include "loop.h"
T final_x, final_y;
void loop(T x, T y) {
    while (x > 0) {
        AT(1); T t = x - 1; x = y; y = t;
    }
    final_x = x; final_y = y;
}
