// Deposits bring 5, withdrawals cost 3: of 1000 of them, 375 deposits and 625 withdrawals come to 0. Nothing comes to 1,
// since 5 * d - 3 * (1000 - d) = 8 * d - 3000 is even.
// expect loops ledger 1
// expect type ledger:1 4
// expect eval ledger([7, 0, -7], 3) -> 2
// expect eval ledger([1, 1, 1, -1, -1, -1, -1, -1], 8) -> 0
// expect eval ledger([], 0) -> 0
extern void reach_error(void);

int ledger(const int *amount, int n) {
    int balance = 0, idle = 0;
    for (int i = 0; i < n; i++) {
        if (amount[i] > 0)
            balance += 5;
        else if (amount[i] < 0)
            balance -= 3;
        else
            idle++;
    }
    if (n == 1000 && idle == 0 && balance == 0)
        reach_error();
    if (n == 1000 && idle == 0 && balance == 1)
        return -1;
    return balance;
}
