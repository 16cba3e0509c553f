// Leaves by wrapping or never, in steps of sixteen.
#include "loop.h"
T final_x;
void loop(T x) {
    while (x >= 10) {
        AT(1); x += 16;
    }
    final_x = x;
}
