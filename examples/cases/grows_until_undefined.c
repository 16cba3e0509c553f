// Not an endless loop: for x > 0 it overflows, which is undefined.
// expect loops grows_until_undefined 1
// expect type grows_until_undefined:1 1
// expect paths grows_until_undefined:1 1
// expect eval grows_until_undefined(0) -> 0
// expect eval grows_until_undefined(-9) -> -9
// expect eval grows_until_undefined(2147483647) -> undefined
// expect eval grows_until_undefined(2147480000) -> undefined
int grows_until_undefined(int x) {
    while (x > 0)
        x++;
    return x;
}
