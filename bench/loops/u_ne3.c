// Until three, in steps of seven.
#include "loop.h"
T final_u;
void loop(T u) {
    while (u != 3) {
        AT(1); u += 7;
    }
    final_u = u;
}
