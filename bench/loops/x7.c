// LoopSCC, section 4.3.1: a polynomial condition.
#include "loop.h"
T final_x;
void loop(T x) {
    while (x * x * x * x * x * x * x < x * x * x + 2) {
        AT(1); x += 2;
    }
    final_x = x;
}
