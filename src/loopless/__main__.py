"""``python -m loopless``."""

from __future__ import annotations

import sys

from loopless.cli import main

if __name__ == "__main__":
    sys.exit(main())
