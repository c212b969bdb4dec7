"""Random streams that depend on a name alone."""

from __future__ import annotations

import hashlib

import numpy as np


def named_stream(name: str, purpose: str) -> np.random.Philox:
    """A Philox stream seeded with the sha256 of ``purpose`` and ``name``: the same on every machine."""
    digest = hashlib.sha256(f"{purpose}\n{name}".encode()).digest()
    return np.random.Philox(key=int.from_bytes(digest[:16], "big"))
