// Leaves after many wraps.
#include "loop.h"
T final_u;
void loop(T u) {
    while (u >= 10) {
        AT(1); u += 37;
    }
    final_u = u;
}
