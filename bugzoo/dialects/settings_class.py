"""Settings in a dataclass: `batch_size = 32` as a field of `class Config` and `config.batch_size`."""

from random import Random

from bugzoo.dialects._settings import movable, moved
from bugzoo.dialects._text import Text

KIND = "structure"
_NAMES = (("Config", "config"), ("Settings", "settings"), ("HParams", "hp"), ("Options", "opts"))


def rewrite(source: str, draw: Random) -> str | None:
    text, names = Text(source), list(_NAMES)
    draw.shuffle(names)
    chosen = next((pair for pair in names if not any(f"{one} " in source or f"{one}." in source for one in pair)), None)
    settings = movable(text)
    if chosen is None or chosen[1] in text.words or not settings or "dataclass" in text.words:
        return None
    kind, holder = chosen
    lines = "".join(f"    {one.name}: {type(one.value).__name__} = {one.said}{one.comment}\n" for one in settings)
    block = f"\n\n@dataclass\nclass {kind}:\n{lines}\n\n{holder} = {kind}()\n"
    return moved(text, settings, holder, block, "from dataclasses import dataclass")
