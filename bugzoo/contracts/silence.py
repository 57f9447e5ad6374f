"""`# bugzoo: ok NAME reason` on a line: this contract is broken there on purpose."""

import linecache
import re

_COMMENT = re.compile(r"#\s*bugzoo:\s*ok\s+(?:contracts/)?([\w-]+)[\s:,-]*(.*)$")
NO_REASON = "no reason was given"


def reason(file: str, line: int, name: str) -> str:
    """Return the reason that the script gives for breaking a contract at a line; "" if it says nothing about it.

    A comment without a reason silences nothing.
    """
    comment = _COMMENT.search(linecache.getline(file, line).rstrip())
    return comment.group(2).strip() if comment and comment.group(1) == name.removeprefix("contracts/") else ""
