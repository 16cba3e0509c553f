// Loops of the C library and of parsers: what they do is a function of what they read.
// expect loops checksum 1
// expect loops values 1
// expect loops characters 1
// expect loops number 1
// expect loops trimmed 1
// expect loops span 1
// expect loops in_memory 1
// expect loops position 1
// expect loops length 1
// expect eval length([97, 98, 0]) -> 2
// expect eval position([97, 98, 99, 0], 99) -> 2
// expect eval position([97, 98, 0], 99) -> -1
// expect eval in_memory([1, 2, 3], 2, 3) -> -1
// expect eval in_memory([1, 2, 3], 3, 3) -> 2
// expect eval span([98, 97, 98, 99, 0], 97, 98) -> 3
// expect eval trimmed([97, 32, 98, 32, 32], 5) -> 3
// expect eval trimmed([32, 32], 2) -> 0
// expect eval number([49, 50, 120]) -> 12
// expect eval number([57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 0]) -> undefined
// expect eval characters([97, 195, 164, 226, 130, 172, 0]) -> 3
// expect eval values([97, 61, 98, 61, 99, 59, 61, 0]) -> 1
// expect eval checksum([1, 2, 3], 3) -> 851975

unsigned long length(const char *s) {
    unsigned long n = 0;
    while (s[n])
        n++;
    return n;
}

int position(const char *s, int c) {
    for (int i = 0; s[i]; i++)
        if (s[i] == c)
            return i;
    return -1;
}

int in_memory(const unsigned char *m, int n, int c) {
    int i = 0;
    while (i < n && m[i] != c)
        i++;
    return i < n ? i : -1;
}

int span(const char *s, int a, int b) {
    int n = 0;
    while (s[n] == a || s[n] == b)
        n++;
    return n;
}

int trimmed(const char *s, int n) {
    while (n > 0 && s[n - 1] == ' ')
        n--;
    return n;
}

int number(const char *s) {
    int v = 0;
    while (*s >= '0' && *s <= '9')
        v = v * 10 + (*s++ - '0');
    return v;
}

int characters(const unsigned char *s) {
    int n = 0;
    for (; *s; s++)
        if ((*s & 0xc0) != 0x80)
            n++;
    return n;
}

int values(const char *s) {
    int seen = 0, n = 0;
    for (; *s; s++)
        if (*s == ';') {
            n += seen;
            seen = 0;
        } else if (*s == '=')
            seen = 1;
    return n;
}

unsigned checksum(const unsigned char *p, int n) {
    unsigned a = 1, b = 0;
    for (int i = 0; i < n; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}
