"""Drawing by a hash of each name: what is added to the catalogue moves nothing but what it draws itself."""

import math
from collections.abc import Iterable, Mapping
from hashlib import sha256


def share(*words: object) -> float:
    """A number in (0, 1) that belongs to these words, the same on any machine."""
    digest = sha256("\x1f".join(map(str, words)).encode()).digest()
    return (int.from_bytes(digest[:8], "big") + 0.5) / 2**64


def one_of(seed: int, names: Iterable[str]) -> str:
    """The name that ranks first under this seed: another name takes its place in one seed of n + 1."""
    return min(names, key=lambda name: (share(seed, name), name))


def weighted(seed: int, weights: Mapping[str, float]) -> str:
    """One of the names, each as often as its weight says; the weight of one changes nothing between two others."""
    return min(weights, key=lambda name: (-math.log(share(seed, "weighted", name)) / weights[name], name))
