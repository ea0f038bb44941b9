"""The bytes of UnsafeRows, made by hand: what the kernel's Pack expression gives to the deliver job."""

from __future__ import annotations

import struct

WORD = 8


def unsafe(fields: list[bytes | None]) -> bytes:
    """A row of binary (or struct) fields: a word of null bits, a word per field, then the bytes."""
    nulls = sum(1 << at for at, field in enumerate(fields) if field is None)
    words, tail = [], b""
    start = WORD * (1 + len(fields))
    for field in fields:
        if field is None:
            words.append(0)
            continue
        words.append((start + len(tail)) << 32 | len(field))
        tail += field + bytes(-len(field) % WORD)
    return struct.pack(f"<{1 + len(words)}q", nulls, *words) + tail


def packed(*outlets: tuple[bytes | None, bytes | None] | None) -> bytes:
    """One row of the deliver job: per outlet a (key, value), or None for an outlet that it does not go to."""
    return unsafe([None if outlet is None else unsafe(list(outlet)) for outlet in outlets])
