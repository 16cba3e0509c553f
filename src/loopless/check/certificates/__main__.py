"""``python -m loopless.check.certificates FILE``: judges a certificate in a process that imports no method.

Without FILE the certificate is read from standard input, behind a line with the seconds that it may take.

Status 0: accepted; 1: refused; 2: it cannot be read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from loopless.errors import LooplessError
from loopless.garbage import seldom_collecting


def main(arguments: list[str]) -> int:
    """Judge the certificate in a file; its verdict as one line of JSON."""
    if len(arguments) > 2:
        sys.stderr.write("python -m loopless.check.certificates FILE [SECONDS]\n")
        return 2
    try:
        if arguments:
            seconds = float(arguments[1]) if len(arguments) == 2 else 60.0
            document = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        else:
            seconds = float(sys.stdin.readline())
            document = json.loads(sys.stdin.read())
        from loopless.check.certificates.document import judged_document  # while garbage is seldom looked for

        judgement = judged_document(document, seconds)
    except (OSError, ValueError, LookupError, TypeError, RecursionError, LooplessError) as error:
        sys.stderr.write(f"loopless: the certificate cannot be judged: {error}\n")
        return 2
    sys.stdout.write(json.dumps(judgement) + "\n")
    return 0 if judgement["accepted"] else 1


if __name__ == "__main__":
    with seldom_collecting():
        sys.exit(main(sys.argv[1:]))
