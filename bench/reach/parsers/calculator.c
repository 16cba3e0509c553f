/* Sums and differences of numbers, as "12+3-4".
   hang: what is no number stays where it is. */
/* function: main */
#include <stdio.h>

int main(void) {
    int value, sum = 0, op = '+';
    for (;;) {
        int got = scanf("%3d", &value);
        if (got == EOF) break;
#ifdef FIXED
        if (got == 0 && getchar() == EOF) break;
#endif
        if (got == 1) sum = op == '-' ? (sum - value) % 1000 : (sum + value) % 1000;
        if (got == 1) {
            op = getchar();
            if (op == '=' || op == EOF) break;
        }
    }
    return sum & 1;
}
