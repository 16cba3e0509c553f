"""``python -m loopless.check.certificates FILE``: judges a certificate in a process that imports no method.

Status 0: accepted; 1: refused; 2: it cannot be read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from loopless.check.certificates.document import judged_document
from loopless.errors import LooplessError


def main(arguments: list[str]) -> int:
    """Judge the certificate in a file; its verdict as one line of JSON."""
    if len(arguments) not in (1, 2):
        sys.stderr.write("python -m loopless.check.certificates FILE [SECONDS]\n")
        return 2
    try:
        document = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        judgement = judged_document(document, float(arguments[1]) if len(arguments) == 2 else 60.0)
    except (OSError, ValueError, LookupError, TypeError, RecursionError, LooplessError) as error:
        sys.stderr.write(f"loopless: the certificate cannot be judged: {error}\n")
        return 2
    sys.stdout.write(json.dumps(judgement) + "\n")
    return 0 if judgement["accepted"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
