"""The repairs and the pretences that a fault's file names, made in one program's broken text."""

from collections.abc import Mapping

from bugzoo.errors import UserError
from bugzoo.faults.model import Fault, Written
from bugzoo.injection import change

Params = Mapping[str, float | int]


def made(source: str, edits: Written, params: Params) -> str | None:
    """`source` with these edits made; None where they do not fit this program."""
    try:
        return change(source, edits, params).broken
    except UserError:
        return None


def all_made(source: str, named: Mapping[str, Written], params: Params) -> dict[str, str]:
    """Name -> text, for those that fit."""
    texts = {title: made(source, edits, params) for title, edits in named.items()}
    return {title: text for title, text in texts.items() if text is not None}


def repairs(source: str, fault: Fault, params: Params) -> dict[str, str]:
    """Name -> text: what is right beside the healthy text. `source` is the broken one."""
    return all_made(source, fault.repairs, params)


def pretences(source: str, fault: Fault, params: Params) -> dict[str, str]:
    """Name -> text: what looks like a repair of this fault and is none."""
    return all_made(source, fault.pretences, params)
