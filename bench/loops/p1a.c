// Proteus, Fig. 1(a).
#include "loop.h"
T final_x, final_z, final_n;
void loop(T x, T z, T n) {
    while (x < n) {
        if (z > x) {
            AT(1); x++;
        } else {
            AT(2); z++;
        }
    }
    final_x = x; final_z = z; final_n = n;
}
