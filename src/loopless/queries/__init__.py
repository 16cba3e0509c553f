"""Questions about programs: programs in memory, limits on work, one file a question."""

from __future__ import annotations
