"""Many files: finding them, and asking the same of each."""

from __future__ import annotations
