"""How paths leave a loop, in words."""

from __future__ import annotations

from loopless.paths import Exit


def exit_words(exit: Exit) -> str:
    """How a path leaves the loop, in words."""
    place = f" in line {exit.line}" if exit.line else ""
    match exit.kind:
        case "normal":
            return f"leaves{place}"
        case "return":
            return f"returns{place}"
        case "abort" | "exit":
            return f"ends the program by {exit.kind}{place}"
        case "error":
            return f"reaches the error{place}"
        case "undefined":
            return f"undefined behaviour ({exit.detail.replace('-', ' ')}){place}"
        case "assumption":
            return f"no such run, an assumption fails{place}"
        case "endless":
            return f"never leaves the loop{place}"
        case "unknown":
            return f"not known: what the loop{place} does"
        case _:
            return f"{exit.kind}{place}"
