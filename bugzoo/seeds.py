"""Which seeds there are: those that every library takes which the programs use."""

from bugzoo.errors import UserError

MOST = 2**32 - 1
"""numpy takes no larger one; torch would take 64 bits."""


def check(seed: object) -> None:
    """Raises UserError for what is no whole number from 0 to MOST."""
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MOST:
        bits = seed.bit_length() if isinstance(seed, int) else 0
        said = (
            f"(a number of {bits} bits)" if bits > 128 else f"{seed!r:.60}"
        )  # Python refuses to write very large ones
        raise UserError(f"seed={said} is not allowed; it is a whole number from 0 to {MOST}, such as seed=3.")
