"""Errors for users: a mistake, which the command line prints without a traceback, and "not applicable"."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """A user's mistake: what happened, with which value, what is allowed, what to type next. Exit code 2."""


class NotApplicable(Exception):
    """An instrument cannot check this script. The text gives the reason (shown under "not checked")."""


FEW = 6
"""Up to this many names are listed. Above it, only similar names and the command that lists all."""


def unknown(kind: str, name: str, allowed: Iterable[str], next_command: str) -> UserError:
    """Return a UserError for a name that does not exist, with the most similar ones that do."""
    allowed = sorted(allowed)
    small, typed = {candidate.lower(): candidate for candidate in allowed}, name[:200].lower()
    tails = {candidate.rsplit("/", 1)[-1]: candidate for candidate in small}
    near = [candidate for candidate in small if candidate.startswith(f"{typed}/")][:3]  # a family's name alone
    near += [candidate for candidate in get_close_matches(typed, small, 3, 0.5) if candidate not in near]
    near += [tails[end] for end in get_close_matches(typed.rsplit("/", 1)[-1], tails, 3, 0.6) if tails[end] not in near]
    guess = f" Did you mean {' or '.join(small[spelling] for spelling in near[:3])}?" if near else ""
    there = f"There is no {kind} named {name!r}.{guess}"
    if len(allowed) <= FEW:
        every = " or ".join(filter(None, [", ".join(allowed[:-1]), *allowed[-1:]]))
        return UserError(f"{there} Choose {every}; see `{next_command}`.")
    return UserError(f"{there} `{next_command}` lists all {len(allowed)}.")
