// Searches and comparisons of the C library: what they return is a function of the memory that they read.
// expect loops at 0
// expect loops name 0
// expect loops line 0
// expect loops alike 0
// expect loops command 0
// expect loops occurrences 1
// expect loops vowels 1
// expect loops find 1
// expect eval at([97, 98, 99, 98, 0], 98) -> 1
// expect eval at([97, 98, 0], 99) -> -1
// expect eval at([97, 98, 0], 0) -> 2
// expect eval name([47, 97, 47, 98, 0]) -> 3
// expect eval name([97, 0]) -> 0
// expect eval line([97, 98, 10, 10], 4) -> 2
// expect eval line([97, 98, 10], 2) -> 2
// expect eval alike([1, 2, 3], [1, 2, 4], 2) -> 1
// expect eval alike([1, 2, 3], [1, 2, 4], 3) -> 0
// expect eval alike([1], [2], 0) -> 1
// expect eval command([113, 117, 105, 116, 0]) -> 1
// expect eval command([113, 117, 105, 0]) -> 0
// expect eval command([97, 0]) -> -1
// expect eval command([122, 0]) -> 0
// expect eval occurrences([97, 98, 97, 97, 0], 97) -> 3
// expect eval occurrences([97, 98, 0], 99) -> 0
// expect eval vowels([97, 98, 101, 117, 122, 0]) -> 3
// expect eval find([97, 98, 97, 98, 99], 5, [97, 98, 99], 3) -> 2
// expect eval find([97, 98, 97, 98, 99], 5, [98, 98], 2) -> -1

typedef __SIZE_TYPE__ size_t; char *strchr(const char *, int); char *strrchr(const char *, int); void *memchr(const void *, int, size_t); int memcmp(const void *, const void *, size_t); int strcmp(const char *, const char *);

long at(const char *s, int c) {
    const char *p = strchr(s, c);
    return p ? p - s : -1;
}

long name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 - path : 0;
}

unsigned long line(const char *s, unsigned long n) {
    const char *end = memchr(s, '\n', n);
    return end ? (unsigned long)(end - s) : n;
}

int alike(const char *a, const char *b, unsigned long n) {
    return memcmp(a, b, n) == 0;
}

int command(const char *s) {
    if (strcmp(s, "quit") == 0)
        return 1;
    return strcmp(s, "help") < 0 ? -1 : 0;
}

int occurrences(const char *s, int c) {
    int n = 0;
    if (c == 0)
        return 0;
    while ((s = strchr(s, c)) != 0) {
        n++;
        s++;
    }
    return n;
}

int vowels(const char *s) {
    int n = 0;
    for (int i = 0; s[i]; i++)
        if (strchr("aeiou", s[i]))
            n++;
    return n;
}

int find(const char *s, int n, const char *t, int m) {
    for (int i = 0; i + m <= n; i++)
        if (memcmp(s + i, t, m) == 0)
            return i;
    return -1;
}
