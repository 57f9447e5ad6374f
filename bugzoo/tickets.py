"""How a ticket is written: nine signs that tell nothing, such as `Z-017K-4PQ2`."""

_LETTERS = "BCDFGHJKMNPQRSTVWXYZ"  # without vowels, so that no ticket spells a word
_SIGNS = "0123456789" + _LETTERS
# 20 * 30**8 tickets: of 100,000 variants, two share one in less than one draw in a thousand


def spelt(digest: bytes) -> str:
    """The ticket of at least eight bytes that were drawn or hashed."""
    number, drawn = int.from_bytes(digest[:8], "big"), ""
    for signs in (_LETTERS, *[_SIGNS] * 8):
        number, index = divmod(number, len(signs))
        drawn += signs[index]
    return f"{drawn[0]}-{drawn[1:5]}-{drawn[5:]}"
