"""The repairs and pretences from a fault's file, applied to one program's broken text."""

from collections.abc import Mapping

from bugzoo.errors import UserError
from bugzoo.faults.model import Fault, Written
from bugzoo.injection import change

Params = Mapping[str, float | int]


def made(source: str, edits: Written, params: Params) -> str | None:
    """Return `source` with these edits applied; None if they do not fit this program."""
    try:
        return change(source, edits, params).broken
    except UserError:
        return None


def all_made(source: str, named: Mapping[str, Written], params: Params) -> dict[str, str]:
    """Return name -> text, for those that fit."""
    texts = {title: made(source, edits, params) for title, edits in named.items()}
    return {title: text for title, text in texts.items() if text is not None}


def repairs(source: str, fault: Fault, params: Params) -> dict[str, str]:
    """Return name -> text of right repairs besides the healthy text. `source` is the broken one."""
    return all_made(source, fault.repairs, params)


def pretences(source: str, fault: Fault, params: Params) -> dict[str, str]:
    """Return name -> text of fake repairs of this fault."""
    return all_made(source, fault.pretences, params)
