"""What a campaign does: which programs, and how closely they are looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from loopless.errors import UsageError
from loopless_fuzz.generator.generate import PROFILES, Profile, generate
from loopless_fuzz.generator.syntax import GeneratedProgram

EIGHT_BIT_EVERY: Final = 4
"""Each fourth program is of the profile's 8-bit twin, where there is one: all its states can be judged."""
STATES: Final = 300
INPUTS: Final = 20
LIMIT_S: Final = 20.0
SEVERAL: Final = "programs"
"""The name of the campaign of programs of several functions, in the place of a profile."""
READINGS: Final = "readings"
"""That of functions that read arrays with other signs and widths."""
RULED: Final = "rule"
"""That of programs whose loops are entered in few states."""
CLEAN: Final = "clean"
"""The name of the campaign of programs whose runs are clean."""
WRITING: Final = "writing"
"""That of functions whose loops write memory."""
READING: Final = "data"
"""The profile of programs whose loops read data, which has a campaign of its own name."""
UNDEFINED: Final = 0.2
"""How many of the statements are such ones in the programs that have them besides."""


@dataclass(frozen=True, slots=True)
class Plan:
    """``profile`` names the generator's profile. ``states`` are drawn at the header of each loop, ``inputs`` for the
    function; ``every``: all states of each N-th 8-bit program are judged, 0 for none. ``loops``, ``functions``: what is
    judged. ``limit_s`` bounds the work on one loop, and on composing one function. ``undefined``: each N-th program has
    statements besides that may be undefined in other ways than arithmetic, 0 for none.
    """

    profile: str
    states: int = STATES
    inputs: int = INPUTS
    every: int = 1
    loops: bool = True
    functions: bool = True
    limit_s: float = LIMIT_S
    undefined: int = 0

    def eight_bit(self, seed: int) -> bool:
        """Whether the program of a seed is of the 8-bit twin."""
        return f"{self.profile}-8" in PROFILES and seed % EIGHT_BIT_EVERY == 0

    def everything(self, seed: int) -> bool:
        """Whether all states are judged."""
        return self.every > 0 and self.eight_bit(seed) and seed % (EIGHT_BIT_EVERY * self.every) == 0

    def of_seed(self, seed: int) -> Profile:
        """The profile of the program of a seed."""
        profile = PROFILES[f"{self.profile}-8" if self.eight_bit(seed) else self.profile]
        if self.undefined and seed % self.undefined == self.undefined - 1:
            return replace(profile, undefined=max(profile.undefined, UNDEFINED))
        return profile

    def program(self, seed: int) -> GeneratedProgram:
        """The program of a seed."""
        return generate(seed, self.of_seed(seed))


def check_profile(name: str) -> str:
    """The name, if there is such a profile.

    Raises:
        UsageError: if there is none; it lists those there are.
    """
    if name not in PROFILES:
        raise UsageError(f"there is no profile {name}; take one of {', '.join(PROFILES)}")
    return name
