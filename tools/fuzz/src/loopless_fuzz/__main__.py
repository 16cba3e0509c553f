"""``python -m loopless_fuzz``."""

from __future__ import annotations

import sys

from loopless_fuzz.cli import main

if __name__ == "__main__":
    sys.exit(main())
