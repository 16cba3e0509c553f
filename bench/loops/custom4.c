// LoopSCC, Fig. 7 (custom_4).
#include "loop.h"
T final_i, final_x, final_flag;
void loop(T i, T x, _Bool flag) {
    while (i < 100) {
        if (flag) {
            if (x > 5) {
                AT(1); x -= 5; i += 3;
            } else {
                AT(2); x += 2; i += 7;
            }
        } else {
            AT(3); x -= 7; flag = 1;
        }
    }
    final_i = i; final_x = x; final_flag = flag;
}
