/* kept case
{
 "function": "f",
 "args": [
  11,
  11,
  11,
  17
 ],
 "nondet": [],
 "expected": {
  "status": "ok",
  "return": 11,
  "outputs": [],
  "globals": {
   "final_clock": 0,
   "final_n": 0,
   "final_s": 1,
   "final_t": 0,
   "final_x": 0,
   "final_y": 0,
   "final_z": 0
  },
  "detail": ""
 },
 "note": "evaluated to ok returns 11 final_clock=1 final_n=11 final_s=0 final_t=1 final_x=11 final_y=11 final_z=17, natively ok returns 11 final_clock=1 final_n=11 final_s=18446744073709551605 final_t=1 final_x=0 final_y=11 final_z=17"
}
*/
short final_n = 0;
short final_x = 0;
unsigned long long final_y = 0ULL;
unsigned long long final_z = 0ULL;
unsigned long long final_s = 0ULL;
unsigned long long final_t = 0ULL;
short final_clock = 0;
static void bump(short *p) { *p -= 3; }
unsigned long long f(short n, short x, unsigned long long y, unsigned long long z)
{
    int s = 0;
    int t = 0;
again1:
    {
        if (n) {
            if (n) {
                s = 1;
            } else {
                x = s >= t ? 3 : s;
            }
        }
    }
    if (z <= 0) goto again1;
    final_s = s;
    return n;
}
