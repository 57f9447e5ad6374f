"""Token ids as text, by what the script's variables say: a vocabulary, and names of padding and unknown tokens."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch

LEAST, MOST, SPECIAL = 0.5, 200_000, 8
"""Share of the ids that a vocabulary names; characters of a text that are read; ids that may have no word."""
_NAMED = re.compile(r"(?i)(pad(?!ding$)|unk)")


@dataclass(frozen=True)
class Vocabulary:
    """`words`: id -> word or character; `special`: id -> name of a constant such as PAD."""

    words: dict[int, str]
    special: dict[int, str]

    def text(self, ids: Sequence[int]) -> str:
        """Return the tokens as text. An id without a word is in brackets, and repetitions of it are counted."""
        separator = "" if self.words and all(len(word) == 1 for word in self.words.values()) else " "
        parts = []
        for token, group in groupby(ids):
            times, word = len(list(group)), self.words.get(token)
            if word is None and self.words:
                parts.append(f"[{self.special.get(token, token)}]" + f" x{times}" * (times > 1))
            else:
                parts += [str(token) if word is None else word.replace("\n", "↵")] * times
        return separator.join(parts)


def find(names: Mapping[str, Any], model: torch.nn.Module | None, ids: torch.Tensor) -> Vocabulary:
    """Return the vocabulary that names most of `ids`, one without words if none does.

    One with as many words as an embedding of the model has rows counts although it names none of them.
    """
    modules = model.modules() if model is not None else ()
    sizes = [candidate.num_embeddings for candidate in modules if isinstance(candidate, torch.nn.Embedding)]
    tokens = set(ids.unique().tolist())
    best, named = {}, 0.0
    for words in _candidates(names, sizes):
        share = len(tokens & words.keys()) / max(1, len(tokens))
        fits = any(0 <= size - len(words) <= SPECIAL for size in sizes)
        if (share >= LEAST or fits) and (share, len(words)) > (named, len(best)):
            best, named = words, share
    constants = {candidate: name for name, candidate in names.items() if type(candidate) is int and _NAMED.match(name)}
    return Vocabulary(best, constants)


def _candidates(names: Mapping[str, Any], sizes: list[int]) -> Iterator[dict[int, str]]:
    """Yield dicts and lists that map ids to words, and pairs of a text with the numbers of its characters."""
    values = list(names.values())
    texts = [member for member in values if isinstance(member, str) and len(member) > 1]
    for value in values:
        if isinstance(value, Mapping) and len(value) > 1:
            keys, mapped = list(value.keys()), list(value.values())
            if all(isinstance(member, str) for member in keys) and all(type(member) is int for member in mapped):
                if len(set(mapped)) == len(mapped):  # counts of words repeat
                    yield dict(zip(mapped, keys, strict=True))
            elif all(type(member) is int for member in keys) and all(isinstance(member, str) for member in mapped):
                yield dict(value)
        elif isinstance(value, list | tuple) and len(value) in sizes and all(isinstance(word, str) for word in value):
            yield dict(enumerate(value))
        elif isinstance(value, torch.Tensor) and value.ndim == 1 and not value.is_floating_point():
            for text in texts:
                if len(text) == len(value):
                    yield dict(zip(value[:MOST].tolist(), text[:MOST], strict=True))
