// An oscillation over a million values.
#include "loop.h"
T final_i, final_x;
void loop(T i, T x) {
    while (i < 100000000) {
        if (x < 500000) {
            AT(1); x += 499979; i += 3;
        } else {
            AT(2); x -= 500009; i += 4;
        }
    }
    final_i = i; final_x = x;
}
