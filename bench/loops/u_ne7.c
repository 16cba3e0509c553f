// Until equal, in steps of seven.
#include "loop.h"
T final_u, final_v;
void loop(T u, T v) {
    while (u != v) {
        AT(1); u += 7;
    }
    final_u = u; final_v = v;
}
