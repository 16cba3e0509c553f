// Upwards for ever: undefined where T is signed.
#include "loop.h"
T final_x;
void loop(T x) {
    while (x > 0) {
        AT(1); x++;
    }
    final_x = x;
}
