"""A small grammar of hand-ins that try to reach what is not plain: a seed, and two of forty forms in a row.

A form takes an expression, `{x}`, and says with which lines and which expression it is handed on or looked into. `{n}` makes
names differ. What the last form gives is bound to `reached`.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Form(NamedTuple):
    name: str
    lines: str
    gives: str


HEAD = """import copy
import dataclasses
import functools
import logging
import torch
from enum import Enum
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm

class Box:
    pass

box = Box()
table = {}
"""
SEEDS = {
    "a module": "torch",
    "a loader": 'DataLoader(TensorDataset(torch.zeros(2)), num_workers=1, multiprocessing_context="fork")',
}
FORMS = (
    Form("its os", "", "({x}).os"),
    Form("its sys", "", "({x}).sys"),
    Form("a module inside it", "", "({x}).serialization"),
    Form("two targets", "left{n} = right{n} = {x}", "right{n}"),
    Form("an alias", "name{n} = {x}", "name{n}"),
    Form("one of two aliases", "name{n} = 1\nname{n} = {x}", "name{n}"),
    Form("an attribute", "box.kept{n} = {x}", "box.kept{n}"),
    Form("an attribute of a class", "class Kept{n}:\n    tools = {x}", "Kept{n}.tools"),
    Form("a class changed later", "Box.kept{n} = {x}", "box.kept{n}"),
    Form("a table", "table[{n}] = {x}", "table[{n}]"),
    Form("a list", "", "[{x}][0]"),
    Form("a starred target", "first{n}, *rest{n} = [{x}, 1]", "first{n}"),
    Form("an argument", "def same{n}(given):\n    return given", "same{n}({x})"),
    Form("a default", "def same{n}(given={x}):\n    return given", "same{n}()"),
    Form("a lambda", "", "(lambda given: given)({x})"),
    Form("a walrus", "", "(name{n} := {x})"),
    Form("a loop", "for each{n} in [{x}]:\n    pass", "each{n}"),
    Form("a comprehension", "", "[each for each in [{x}]][0]"),
    Form("a global name", "def bind{n}():\n    global name{n}\n    name{n} = {x}\nbind{n}()", "name{n}"),
    Form("a fixed name", "", 'getattr({x}, "os")'),
    Form("a computed name", "", 'getattr({x}, "o" + "s")'),
    Form("a name that is set", 'setattr(box, "kept{n}", {x})', 'getattr(box, "kept{n}")'),
    Form("reduce", "", 'functools.reduce(getattr, ["os"], {x})'),
    Form("partial", "", "functools.partial(lambda given: given, {x})()"),
    Form(
        "wraps",
        "@functools.wraps(nn.Linear.forward, assigned=('__globals__',))\ndef same{n}(given=({x})):\n    return given",
        "same{n}.__globals__",
    ),
    Form("an annotation", "def same{n}(given: '''({x}).os''' = None):\n    return given", "same{n}.__annotations__"),
    Form("a member", "class Kept{n}(Enum):\n    tools = [{x}]", "Kept{n}.tools.value[0]"),
    Form(
        "a field",
        "@dataclasses.dataclass\nclass Kept{n}:\n    tools: object = dataclasses.field(default_factory=lambda: {x})",
        "Kept{n}().tools",
    ),
    Form("a copy", "", "copy.copy({x})"),
    Form("a match", "match {x}:\n    case object(os=name{n}):\n        pass", "name{n}"),
    Form("a frame", "", "(each for each in [{x}]).gi_frame.f_builtins"),
    Form(
        "what an error holds",
        "try:\n    ({x}).nothing\nexcept AttributeError as error:\n    name{n} = error.obj",
        "name{n}",
    ),
    Form(
        "where an error was",
        "try:\n    ({x}).nothing\nexcept AttributeError as error:\n    name{n} = error",
        "name{n}.__traceback__.tb_frame",
    ),
    Form("its table", "", "vars({x})"),
    Form("its dictionary", "", "({x}).__dict__"),
    Form("a class by type", "", "type('Kept', (), dict(tools={x})).tools"),
    Form("how it forks", "", "({x}).multiprocessing_context.reducer"),
    Form("a log", "", "(logging.StreamHandler(), {x})[0].stream"),
    Form("a bar", "", "(tqdm([1]), {x})[0].fp"),
    Form("a file", "", "(open('kept', 'w'), {x})[0]"),
)


def programs() -> Iterator[tuple[str, str]]:
    """Yield (name, program) of each pair of forms, from each seed."""
    for kind, seed in SEEDS.items():
        for first in FORMS:
            for second in FORMS:
                lines, expression = HEAD, seed
                for place, form in enumerate((first, second)):
                    added = form.lines.replace("{n}", str(place)).replace("{x}", expression)
                    lines += added + "\n" if added else ""
                    expression = form.gives.replace("{n}", str(place)).replace("{x}", expression)
                yield f"{kind}: {first.name}, {second.name}", f"{lines}reached = {expression}\n"
