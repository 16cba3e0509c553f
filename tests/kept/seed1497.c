/* kept case
{
 "function": "f",
 "args": [],
 "nondet": [],
 "expected": {
  "status": "undefined",
  "return": null,
  "outputs": [],
  "globals": {},
  "detail": "signed addition overflow, line 4"
 },
 "note": "evaluated to ok returns 7 output [-2147483621, 0, -3, -3, 7, 8, -1, 2] final_k=0 final_n=0 final_s=1 final_t=0 final_x=3 final_y=7 final_z=1, natively undefined (signed addition overflow, line 21)"
}
*/
int f(void)
{
    int p[8] = {26, 0, -3, -3, 7, 8, -1, -7};
    p[0] = 1 + 2147483647;
    return 0;
}
