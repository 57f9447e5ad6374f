"""Errors that are a user's mistake: the command line prints them without a traceback and exits with 2."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """What happened, with which value, what is allowed and what to type next."""


def unknown(kind: str, name: str, allowed: Iterable[str], next_command: str) -> UserError:
    """A UserError for a name that does not exist, with the nearest ones that do."""
    allowed = sorted(allowed)
    tails = {candidate.rsplit("/", 1)[-1]: candidate for candidate in allowed}
    near = [candidate for candidate in allowed if candidate.startswith(f"{name}/")][:3]  # a family's name alone
    near += [candidate for candidate in get_close_matches(name, allowed, 3, 0.5) if candidate not in near]
    near += [
        tails[tail] for tail in get_close_matches(name.rsplit("/", 1)[-1], tails, 3, 0.6) if tails[tail] not in near
    ]
    guess = f" Did you mean {' or '.join(near[:3])}?" if near else ""
    return UserError(f"There is no {kind} named {name!r}.{guess} `{next_command}` shows all {len(allowed)}.")
