// A program that reads commands: 1 logs in, 2 is a login that fails, 0 ends it.
// expect loops main 1
// expect eval main() with 0 -> 0
// expect eval main() with 1, 2, 2, 0 -> 12
// expect eval main() with 2, 2, 1, 7, 0 -> 12
// expect eval main() with 1, 1, 1, 2, 2, 2, 2, 2, 0 -> error-reached
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int logins = 0, failed = 0;
    for (int command = __VERIFIER_nondet_int(); command != 0; command = __VERIFIER_nondet_int()) {
        if (command == 1)
            logins++;
        else if (command == 2)
            failed++;
    }
    if (logins == 3 && failed == 5)
        reach_error();
    return 10 * logins + failed;
}
