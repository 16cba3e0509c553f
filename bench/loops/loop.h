/* T is the type of all variables; AT(k) marks what a path does, for programs that count. */
#ifndef T
#define T int
#endif
#ifndef AT
#define AT(k)
#endif
