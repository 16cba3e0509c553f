/* CBA, section 4: "The EQCNT benchmark contains nested loops with branching, where a variable defined in the outermost scope
   is modified in the innermost loop."
   Left free: what is compared, the count, and the bounds: inputs here, since only of EQCNTex it says that they are "now given
   explicitly".
   By hand: n elements that are 1 in a and k of n in b make n * k equal pairs: 4 * 3, 12 * 10, 40 * 30. */
/* expect: reached */
#ifndef SCALE
#define SCALE 1
#endif
#ifndef COUNT
#define COUNT (12 * SCALE)
#endif

int eqcnt(const int *a, const int *b, int n) {
    int equal = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (a[i] == b[j])
                equal++;
    if (equal == COUNT)
        return 1; /* target */
    return 0;
}
