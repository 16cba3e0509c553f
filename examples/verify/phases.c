// Two phases: x goes up to 50 alone, then y goes with it.
// By hand: from x == 50 on x and y rise together, and y is 50 there; so they are equal at the end, where x is 100.
// expect loops main 1
// expect paths main:1 2
// expect eval main() -> 100
extern void reach_error(void);

int main(void) {
    int x = 0, y = 50;
    while (x < 100) {
        x++;
        if (x > 50)
            y++;
    }
    if (y != 100)
        reach_error();
    return y;
}
