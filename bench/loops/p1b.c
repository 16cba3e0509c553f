// Proteus, Fig. 1(b).
#include "loop.h"
T final_i, final_a, final_j;
void loop(T i, T a, T j) {
    while (i < 100) {
        if (a <= 5) {
            if (j < 8) {
                AT(1); a++; j++; i++;
            } else {
                AT(2); a++; j -= 3; i++;
            }
        } else {
            if (j < 8) {
                AT(3); a -= 4; j++; i++;
            } else {
                AT(4); a -= 4; j -= 3; i++;
            }
        }
    }
    final_i = i; final_a = a; final_j = j;
}
