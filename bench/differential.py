"""``eval`` against native execution on random functions of every kind: mismatches, and who answered, by construct.

    python bench/differential.py --functions 2000 --inputs 20 --jobs 2

As bench/functions.py, with the profile that has everything.
"""

from __future__ import annotations

import sys

from functions import main

if __name__ == "__main__":
    sys.argv[1:1] = ["--profile", "everything"]
    sys.exit(main())
