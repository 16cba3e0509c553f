// Until equal.
#include "loop.h"
T final_i, final_n;
void loop(T i, T n) {
    while (i != n) {
        AT(1); i++;
    }
    final_i = i; final_n = n;
}
