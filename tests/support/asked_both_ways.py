"""What the command line and the Python interface say about the same programs."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path

import jsonschema

import loopless

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((Path(loopless.__file__).parent / "report" / "schema.json").read_text(encoding="utf-8"))
NEST = """int total;
int f(int n, int m) {
    int c = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            c += 2;
    return c;
}
int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
void count(int n) { while (n-- > 0) total += 3; }
int plain(int n) { return n / 2; }
int twice(int n) { while (n > 9) n -= 2; while (n < -9) n += 2; return n; }
extern int __VERIFIER_nondet_int(void);
int ask(int n) { while (n > __VERIFIER_nondet_int()) n--; return n; }
int held[8];
int drop(int n) { while (n > held[n & 7]) { held[held[n & 7] & 7] ^= n; n--; } return n; }
"""


@functools.cache
def command(*words: str) -> str:
    line = [sys.executable, "-m", "loopless", *words]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300).stdout


def asked(*words: str) -> dict:
    found = json.loads(command(*words, "--format", "json"))
    jsonschema.validate(found, SCHEMA)
    return untimed(found)


def untimed(value):
    if isinstance(value, dict):
        return {key: untimed(part) for key, part in value.items() if key != "time_ms"}
    return [untimed(part) for part in value] if isinstance(value, list) else value


@functools.cache
def loaded(file: str) -> loopless.Program:
    return loopless.load(file)
