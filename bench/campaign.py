"""Random single loops, judged: ``loopless-fuzz`` with the settings of the measurements in docs/results.md.

    python bench/campaign.py --loops 5000 --keep DIR [--jobs 2] [--seconds 3600]

Every state drawn at the loop's header must lie in exactly one of the cases and regions of the summary, and the run of
the loop from there must agree with it: exit, values at the exit, iterations, iterations of each path. A quarter of the
loops is of 8 bits; of those every entry state of the function is judged, and every state of the header where these are
no more than 2^16. ``--keep`` has the log, and what it has is not done again.
"""

from __future__ import annotations

import argparse
import sys

from loopless_fuzz.cli import main as fuzz


def main() -> int:
    """Run the campaign and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--profile", default="single-loop")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one loop")
    for option in ("states", "every", "seconds", "keep"):
        parser.add_argument(f"--{option}", help=f"as of loopless-fuzz --{option}")
    parser.add_argument("--report", action="store_true", help="only report what is in --keep")
    options = parser.parse_args()
    words = ["--only", "loops", "--profile", options.profile, "-j", options.jobs, "--seed", options.first]
    words += ["--programs", options.loops, "--loop-timeout", options.limit, "--undefined", 0]
    for option in ("states", "every", "seconds", "keep"):
        if getattr(options, option) is not None:
            words += [f"--{option}", getattr(options, option)]
    return fuzz([str(word) for word in words] + ["--report"] * options.report)


if __name__ == "__main__":
    sys.exit(main())
