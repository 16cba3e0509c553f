// Steps of seven.
#include "loop.h"
T final_i, final_n;
void loop(T i, T n) {
    while (i < n) {
        AT(1); i += 7;
    }
    final_i = i; final_n = n;
}
