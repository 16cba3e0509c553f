// Leaves by wrapping; meant for unsigned types.
#include "loop.h"
T final_x;
void loop(T x) {
    while (x >= 10) {
        AT(1); x += 2;
    }
    final_x = x;
}
