"""Which seeds there are: those that every library takes which the programs use."""

from bugzoo.errors import UserError

MOST = 2**32 - 1
"""numpy takes no larger one; torch would take 64 bits."""


def check(seed: object) -> None:
    """Raises UserError for what is no whole number from 0 to MOST."""
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MOST:
        large = isinstance(seed, int) and seed.bit_length() > 128  # Python itself refuses to write very large ones
        said = f"(a number of {seed.bit_length()} bits)" if large else f"{seed!r:.60}"
        raise UserError(f"seed={said} is not allowed; it is a whole number from 0 to {MOST}, such as seed=3.")
