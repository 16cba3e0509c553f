"""Random functions, judged: ``loopless-fuzz`` with the settings of the measurements in docs/results.md.

    python bench/functions.py --functions 300 --inputs 20 [--profile composed] [--keep DIR]

Every sampled entry state, edges included, must lie in exactly one region of the function's summary; evaluation by that
summary, evaluation by those of its loops, plain interpretation and native runs must come to the same.
"""

from __future__ import annotations

import argparse
import sys

from loopless_fuzz.cli import main as fuzz


def main() -> int:
    """Run the campaign and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=100)
    parser.add_argument("--inputs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--profile", default="composed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", help="folder for the log and the programs with a mismatch")
    options = parser.parse_args()
    words = ["--only", "functions", "--profile", options.profile, "-j", options.jobs, "--seed", options.first]
    words += ["--programs", options.functions, "--inputs", options.inputs, "--loop-timeout", 5]
    words += ["--keep", options.keep] if options.keep else []
    return fuzz([str(word) for word in words])


if __name__ == "__main__":
    sys.exit(main())
