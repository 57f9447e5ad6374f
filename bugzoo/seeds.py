"""The allowed seeds: those that every library of our programs accepts."""

from bugzoo.errors import UserError

MOST = 2**32 - 1
"""The largest seed that numpy accepts. torch would accept 64 bits."""


def check(seed: object) -> None:
    """Raise UserError for anything but a whole number from 0 to MOST."""
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MOST:
        bits = seed.bit_length() if isinstance(seed, int) else 0
        # Python refuses to print very large numbers
        text = f"(a number of {bits} bits)" if bits > 128 else f"{seed!r:.60}"
        raise UserError(f"seed={text} is not allowed; use a whole number from 0 to {MOST}, such as seed=3.")
