// Two phases.
#include "loop.h"
T final_x, final_y;
void loop(T x, T y) {
    while (x < 100) {
        if (x < 50) {
            AT(1); x++;
        } else {
            AT(2); x++; y++;
        }
    }
    final_x = x; final_y = y;
}
