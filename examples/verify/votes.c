// Counts votes for 1 and for 2 that come one after the other, until a 0.
// By hand: forty of the one and seventeen of the other, in any order, lead to the error.
// expect loops main 1
// expect eval main() with 0 -> 0
// expect eval main() with 1, 2, 3, 2, 0 -> 2
// expect eval main() with 1, 1, 1, 2, -1, 0 -> 1
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    int yes = 0, no = 0, vote;
    while ((vote = __VERIFIER_nondet_int()) != 0) {
        if (vote == 1)
            yes++;
        else if (vote == 2)
            no++;
    }
    if (yes == 40 && no == 17)
        reach_error();
    return yes < no ? 2 : yes > no;
}
