"""Questions about programs: the door of the library, limits on work, one file a question."""

from __future__ import annotations
