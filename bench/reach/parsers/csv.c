/* Fields of a line of comma-separated values; a field may stand in quotes.
   hang: a quote that is not closed. */
/* function: main */
#include <stdio.h>

int main(void) {
    char line[64];
    int fields = 0;
    while (fgets(line, sizeof line, stdin)) {
        int at = 0;
        while (line[at] && line[at] != '\n') {
            if (line[at] == '"') {
                at++;
#ifdef FIXED
                while (line[at] && line[at] != '"') at++;
                if (line[at]) at++;
#else
                while (line[at] != '"') if (line[at]) at++;
                at++;
#endif
            } else
                at++;
            if (line[at] == ',') { fields = (fields + 1) % 100; at++; }
        }
    }
    return fields;
}
