// Until equal.
#include "loop.h"
T final_u, final_v;
void loop(T u, T v) {
    while (u != v) {
        AT(1); u++;
    }
    final_u = u; final_v = v;
}
