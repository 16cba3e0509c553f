"""The command line. ``main`` is the command; each subcommand is one thin file."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the words of ``argv`` (default: those of this process); its exit status."""
    import sys

    from loopless.cli.app import run

    if argv is None:  # the process is the command's: at its end it need not look through all that it has for garbage
        import atexit
        import gc

        atexit.register(gc.freeze)
    return run(list(sys.argv[1:] if argv is None else argv))
