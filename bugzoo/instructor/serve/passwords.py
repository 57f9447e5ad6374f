"""Passwords, kept as scrypt with a salt each; comparing takes as long for a name that nobody has."""

import hashlib
import hmac
import secrets

from bugzoo.errors import UserError

LEAST, MOST = 10, 256
_N, _R, _P = 2**15, 8, 1
"""32 MiB and about a tenth of a second for each guess."""


def check(password: str) -> None:
    """Raises UserError for a password that is too short or too long to be kept."""
    if not LEAST <= len(password) <= MOST:
        raise UserError(f"The password has {len(password)} characters; it has from {LEAST} to {MOST}.")
    if not password.strip() or len(set(password)) < 3:
        raise UserError("The password is one or two characters again and again; take a few words instead.")


def hashed(password: str) -> str:
    """`scrypt$n$r$p$salt$hash`, with a salt of its own."""
    salt = secrets.token_bytes(16)
    return f"scrypt${_N}${_R}${_P}${salt.hex()}${_scrypt(password, salt, _N, _R, _P).hex()}"


_NOBODY = f"scrypt${_N}${_R}${_P}${'0' * 32}${'0' * 64}"


def right(password: str, kept: str | None) -> bool:
    """Whether it is the password that was kept; None, for a name that nobody has, takes as long and is never right."""
    _, n, r, p, salt, digest = (kept or _NOBODY).split("$")
    made = _scrypt(password[: MOST + 1], bytes.fromhex(salt), int(n), int(r), int(p))
    return hmac.compare_digest(made, bytes.fromhex(digest)) and kept is not None


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    data = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(data, salt=salt, n=n, r=r, p=p, maxmem=256 * n * r, dklen=32)
