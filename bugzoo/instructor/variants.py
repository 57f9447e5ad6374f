"""One notebook variant per student: HMAC(course secret, assignment, student) chooses seed and parameters.

The same student gets the same variant years later (`bugzoo/draws.py`). Without students the middle of a range is used.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bugzoo.draws import Draw, settle
from bugzoo.errors import UserError

if TYPE_CHECKING:  # the assignment imports torch; a secret that is too short is reported before that
    from bugzoo.instructor.model import Assignment

SEEDS = 10_000
SHORTEST = 16
"""Fewest characters of a course secret: a shorter one can be guessed, and with it every variant."""


def variant(assignment: "Assignment", specs: tuple[str, ...], chosen: Draw) -> "Assignment":
    """Return the assignment with the seed and parameters that `chosen` gives. `specs` may hold ranges."""
    settled = tuple(settle(spec, chosen.pick) for spec in specs)
    return replace(assignment, faults=settled, seed=int(chosen.pick("seed", 0, SEEDS - 1, True)))


def read_secret(given: str, environment: dict[str, str]) -> str:
    """Return the course secret from a file, or else an environment variable of that name. Raises UserError."""
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else environment.get(given)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The secret could not be read from {given}: {error}.") from None
    if text is None:
        problem = f"--secret {given}: there is no such file and no such environment variable."
        command = f"`python -c 'import secrets; print(secrets.token_hex(16))' > {given}`"
        raise UserError(f"{problem} Create the file, for example with {command}. Keep it for the whole course.")
    if len(text.strip()) < SHORTEST:
        raise UserError(f"--secret {given} holds {len(text.strip())} characters. At least {SHORTEST} are needed.")
    return text.strip()
