"""Answers as people and programs read them. The only package that serializes."""

from __future__ import annotations
