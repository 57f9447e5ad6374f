"""What is ordinary PyTorch, and what a person has to look at first. Nothing here is run."""

import pytest

from bugzoo.grading.exercises import exercises
from bugzoo.grading.plain import outside
from bugzoo.grading.texts import tidy
from bugzoo.grading.trials.attacks import attacks
from bugzoo.scenario import Scenario
from bugzoo.syntax import parse
from tests.sampling import only_in_prove

A_FEW = ("16_another_size",)
HEAD = """import math
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, inputs):
        return self.head(inputs)

model = Net()
"""
PLAIN = {
    "an import": "import itertools\nfrom sklearn.metrics import f1_score\nfrom collections.abc import Iterator",
    "an import of a submodule": "import torch.nn.utils.rnn as rnn\nloss = rnn.pad_sequence([])",
    "another name for a module": "G = torch.nn.functional\nloss = G.relu(torch.zeros(3))",
    "a part of the model": "model.head = nn.Linear(4, 3)\nmodel.head.weight.data = torch.zeros(3, 4)",
    "a method of one object": "model.forward = lambda inputs: inputs",
    "a pass of a class above": "class Twice(Net):\n    def forward(self, inputs):\n        return 2 * super().forward(inputs)",
    "a setting of a backend": "torch.backends.cudnn.deterministic = True\ntorch.backends.cuda.matmul.allow_tf32 = False",
    "names that are not used": "for _ in range(3):\n    _, found = torch.zeros(3, 3).max(dim=1)",
    "a class of one's own": "class Data:\n    def __len__(self):\n        return 3\n    def __iter__(self):\n        yield 3",
    "a fixed name": "weight = getattr(model, 'head')\nsetattr(model, 'head', weight)",
    "a hook on one layer": "handle = model.head.register_forward_hook(lambda *given: None)\nhandle.remove()",
    "type of something": "kind = type(model) is Net\nname = type(model).__name__",
    "a local name of a module": "import time\ndef mixed(inputs):\n    batch, time = inputs.shape\n    return print(time)",
    "a local name in a comprehension": "import time\nlong = [time + 1 for time in range(3)]\nlong = (lambda time: time)(3)",
    "a scheduler": "rate = torch.optim.lr_scheduler.CosineAnnealingLR(torch.optim.Adam(model.parameters()), 3)",
    "torch.func": "loss = torch.func.functional_call(model, dict(model.named_parameters()), (torch.zeros(4),))",
    "a block entered by hand": "inference = torch.inference_mode()\ninference.__enter__()",
    "a table of its own": "seen = {}\nseen['a'] = 1\nmath.pi",
    "modules that only compute": "import json, statistics\nfrom enum import Enum\n"
    "print(json.dumps({'loss': statistics.mean([1.0])}))",
    "a log": "import logging\nlogging.basicConfig(level=logging.INFO)\nlog = logging.getLogger('run')\nlog.info('step %d', 3)",
    "arguments": "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--rate', type=float)",
    "arguments that are read": "from argparse import ArgumentParser, Namespace\n"
    "settings = ArgumentParser().parse_args([])\nsettings.rate = 3",
    "a bar": "from tqdm import tqdm\nfor step in tqdm(range(3)):\n    pass",
    "a picture": "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot([1, 2])\nplt.savefig('loss.png')",
    "a path that is only a name": "from pathlib import Path\nname = (Path('runs') / 'model.pt').stem",
    "weights that are kept": "torch.save(model.state_dict(), 'model.pt')",
    "private names of its own": "_rate = 3\nclass Kept:\n    _most = 3\n    def __init__(self):\n        self._seen = _rate\n"
    "    def _next(self):\n        return self._seen + self._most",
    "methods of its own class": "class Kept:\n    def __repr__(self):\n        return self.__class__.__name__\n"
    "    def __eq__(self, other):\n        return True\n    def __setitem__(self, key, value):\n        pass",
    "its own class has a new note": "Net.note = 'repaired'",
    "a variable of a function's name": "open = 3\ninput = open + 1\nprint(input)",
    "a name that only a function has": "def run():\n    input = model(torch.zeros(4))\n    return input",
    "an object of its own is filled": "class Settings:\n    pass\nfor key, value in {'a': 1}.items():\n"
    "    setattr(Settings(), key, value)",
    "hints": "from __future__ import annotations\nfrom typing import Optional, Literal\n"
    "def same(inputs: 'torch.Tensor', kind: Literal['a b'],"
    " other: Optional['list[int]'] = None) -> 'Net':\n    return inputs",
    "a decorator": "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def inner(*given):\n"
    "        return f(*given)\n    return inner",
    "a setting of numbers": "torch.set_default_dtype(torch.float32)\ntorch.use_deterministic_algorithms(True)",
    "a function of torch as a value": "table = {'relu': F.relu, 'layer': nn.Linear}\ntable['layer'](3, 4)",
    "a function by its name": "optimizer = getattr(torch.optim, 'Adam')(model.parameters())\nhasattr(model, 'head')",
    "memory": "import gc\ngc.collect()\ntorch.cuda.empty_cache()",
    "usual attributes that modules are named as": "model.head.weight.select(0, 1).numpy().copy()\nmodel.time = 3\n"
    "print(model.time)",
    "a match": "match model:\n    case nn.Linear(in_features=4) as layer:\n        print(layer)\n"
    "    case [first, *rest]:\n        pass",
    "what an error says": "try:\n    model(3)\nexcept TypeError as error:\n    print(error.args)\n    raise",
}  # fmt: skip
OUTSIDE = {
    "another module": ("import os", "among the modules"),
    "a part of another module": ("from subprocess import run", "among the modules"),
    "a part that is not listed": ("from json import load", "among what a repair may use of `json`"),
    "everything of a module": ("from torch import *", "which names"),
    "a module within a module": ("torch.sys.exit(0)", "`torch.sys` is not among"),
    "the same through a name": ("F.math.inf\nG = F\nG.warnings.warn('')", "`torch.nn.functional.warnings` is not among"),
    "imported from a module": ("from torch import sys", "`torch.sys` is not among"),
    "a module as a value": ("print(torch)", "handed on as a value"),
    "a module in a list": ("places = [torch, math]", "handed on as a value"),
    "a module by two targets": ("tools = more = torch", "handed on as a value"),
    "a module as an attribute": ("model.tools = torch", "handed on as a value"),
    "a module as a class's attribute": ("class Box:\n    tools = torch", "handed on as a value"),
    "a module in a table": ("table = {}\ntable['tools'] = torch", "handed on as a value"),
    "a module in a function": ("def f():\n    tools = torch\n    return tools", "handed on as a value"),
    "one of two aliases": ("tools = 3\ntools = torch", "handed on as a value"),
    "a module's name in a chain": ("DataLoader([]).reductions.os", "the name of a module"),
    "a module's name of one's own": ("class Box:\n    os = 3\nDataLoader([]).reductions.os", "the name of a module"),
    "how loaders fork": ("DataLoader([]).multiprocessing_context", "another module"),
    "a function written into": ("import functools\nfunctools.update_wrapper(F.relu, print)", "among what a repair may use"),
    "the same by wraps": ("import functools\n@functools.wraps(F.relu, assigned=('__code__',))\ndef f():\n"
    "    pass", "these arguments only"),
    "wraps handed on": ("import functools\nwrap = functools.partial(functools.wraps, print)", "these arguments only"),
    "torch.save with another module": ("torch.save(model, 'x', pickle_module=model)", "these arguments only"),
    "a log into a file": ("import logging\nlogging.basicConfig(filename='x')", "these arguments only"),
    "what a log writes to": ("import logging\nlogging.StreamHandler().stream", "files"),
    "what an error was raised at": ("try:\n    torch.nothing\nexcept AttributeError as error:\n    error.obj", "another module"),
    "a path that is read": ("from pathlib import Path\nPath('x').read_text()", "files"),
    "an annotation that runs": ("def f(inputs: 'exec(1)'):\n    pass", "beyond the program"),
    "an annotation that is no code": ("def f(inputs: 'a b'):\n    pass", "cannot be read"),
    "an annotation within another": ("value: 'list[\"open(1)\"]' = []", "beyond the program"),
    "a keyword of a match": ("match model:\n    case object(os=found):\n        pass", "the name of a module"),
    "a name that is bound at times": ("if model is None:\n    open = 3\nopen('x')", "beyond the program"),
    "a name that is removed again": ("open = 3\ndel open\nopen('x')", "beyond the program"),
    "a name before it is bound": ("open('x')\nopen = 3", "beyond the program"),
    "an import of a special name": ("import math as __builtins__", "underscore"),
    "an object of another class is filled": ("class Kept(nn.Module):\n    pass\nsetattr(Kept(), 'a' + 'b', 3)", "computed"),
    "an underscore": ("hooks = model._forward_hooks", "begins with an underscore"),
    "a special name": ("Net.__call__\nmodel.__class__.forward", "begins with an underscore"),
    "a function of that name": ("class Loud(nn.Module):\n    def __setattr__(self, name, value):\n        pass", "underscore"),
    "a computed name": ("getattr(model, 'he' + 'ad')", "computed"),
    "getattr handed on": ("import functools\nfunctools.reduce(getattr, ['head'], model)", "computed"),
    "a fixed name with an underscore": ("getattr(model, '__dict__')", "underscore"),
    "frames": ("(one for one in ()).gi_frame", "leads to frames"),
    "a file": ("open('x').read()", "beyond the program"),
    "text that runs": ("eval('1')", "beyond the program"),
    "files of torch": ("torch.load('x')", "among what a repair may use"),
    "files of numpy": ("import numpy as np\nkeep = np.load", "among what a repair may use"),
    "a method that writes": ("torch.zeros(3).numpy().tofile('x')", "files"),
    "a mode of all": ("torch.set_default_device('meta')", "among what a repair may use"),
    "a hook on all": ("nn.modules.module.register_module_forward_hook(print)", "among what"),
    "a function exchanged": ("F.cross_entropy = None", "whole program"),
    "a pass that no hook sees": ("loss = model.forward(torch.zeros(4)).sum()", "none of the hooks"),
    "the same by its name": ("loss = getattr(model, 'forward')(torch.zeros(4)).sum()", "none of the hooks"),
    "a method exchanged": ("nn.Linear.forward = None", "whole program"),
    "its own class changed": ("Net.forward = None", "whole program"),
    "by another name": ("Layer = nn.Linear\nLayer.forward = None", "whole program"),
    "through the type": ("type(model).forward = None", "whole program"),
    "by setattr": ("setattr(torch, 'relu', None)", "whole program"),
    "in a loop": ("for torch.relu in [None]:\n    pass", "whole program"),
    "removed": ("del nn.Linear.forward", "whole program"),
    "a class without a statement": ("Other = type('Other', (nn.Module,), {})", "made by `type`"),
    "a class of a class": ("class Odd(metaclass=Net):\n    pass", "another class"),
}  # fmt: skip


@pytest.mark.parametrize("what", PLAIN)
def test_plain(what: str) -> None:
    assert outside(HEAD + PLAIN[what], HEAD) == []


@pytest.mark.parametrize("what", OUTSIDE)
def test_outside(what: str) -> None:
    text, why = OUTSIDE[what]
    places = outside(HEAD + text, HEAD)
    assert places and any(why in place.why for place in places), places
    first = HEAD.count("\n") + 1
    assert all(place.line >= first for place in places)
    assert places[0].text in (HEAD + text) and f"line {places[0].line}" in str(places[0])


GIVEN = (
    HEAD
    + """
for epoch in range(3):
    with torch.no_grad():
        model.eval()

def score(inputs):
    return model(inputs)
"""
)
HEADS = {
    "the same target": ("for epoch in range(3)", "for epoch in [eval('3')]"),
    "another item beside it": ("with torch.no_grad()", "with torch.no_grad(), open('x')"),
    "a default": ("def score(inputs)", "def score(inputs, more=eval('3'))"),
    "an annotation": ("def score(inputs)", "def score(inputs: eval('3'))"),
    "a decorator": ("def score(", "@eval('print')\ndef score("),
    "a base of the class": ("class Net(nn.Module)", "class Net(nn.Module, eval('object'))"),
    "a condition": ("        model.eval()", "        if eval('3'): model.eval()"),
}  # fmt: skip
SMUGGLED = {
    "a default": "def send(torch=torch):\n    return take(torch)",
    "a lambda beside it": "def send():\n    unused = lambda torch: 0\n    return take(torch)",
    "a comprehension beside it": "def send():\n    unused = [0 for torch in ()]\n    return take(torch)",
    "a comprehension over it": "def send():\n    return [take(torch) for torch in [torch]]",
    "a global name": "def send():\n    global torch\n    torch = torch\n    return take(torch)",
}


@pytest.mark.parametrize("what", HEADS)
def test_a_head_that_was_handed_out_in_part_covers_no_other_part(what: str) -> None:
    old, new = HEADS[what]
    assert GIVEN.count(old) == 1 and outside(GIVEN, GIVEN) == []
    places = outside(GIVEN.replace(old, new), GIVEN)
    assert places and {place.name for place in places} <= {"eval", "open"}


@pytest.mark.parametrize("what", SMUGGLED)
def test_a_name_of_another_scope_hides_no_module(what: str) -> None:
    assert {place.name for place in outside(HEAD + SMUGGLED[what], HEAD)} == {"torch"}


@pytest.mark.parametrize("what", OUTSIDE)
def test_what_was_handed_out_is_inside(what: str) -> None:
    text = HEAD + OUTSIDE[what][0]
    assert outside(text, text) == []
    assert outside(text + "\nloss = model(torch.zeros(4))", text) == []


def test_a_statement_that_was_handed_out_does_not_cover_another_one() -> None:
    source = HEAD + "import os\nfolder = os.environ['A']\n"
    assert outside(source, source) == []
    assert [place.line for place in outside(source + "os.system('x')", source)] == [source.count("\n") + 1]


@pytest.mark.parametrize("what", OUTSIDE)
def test_an_instructor_allows_what_a_line_names(what: str) -> None:
    text = HEAD + OUTSIDE[what][0]
    names = [place.name for place in outside(text, HEAD)]
    assert outside(text, HEAD, names) == []
    assert len(outside(text, HEAD, [name[:-1] for name in names])) == len(names)


def test_a_function_that_was_handed_out_may_be_called_otherwise() -> None:
    source = HEAD + "torch.load('kept')\n"
    assert outside(source + "torch.load('other')\n", source) == []
    assert [place.name for place in outside(source + "torch.hub.list('kept')\n", source)] == ["torch.hub"]


def test_a_module_is_allowed_with_what_lies_below_it() -> None:
    text = HEAD + "from csv import reader\nimport xml.dom\n"
    assert [place.name for place in outside(text, HEAD)] == ["csv.reader", "xml", "xml.dom"]
    assert outside(text, HEAD, ("csv", "xml")) == []


@pytest.mark.parametrize("text", ["x = (", "\0"])
def test_what_is_not_python(text: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        outside(text, HEAD)


@pytest.mark.parametrize("name", [name if name in A_FEW else only_in_prove(name) for name in exercises()])
def test_each_right_repair_and_each_pretence_is_plain(name: str) -> None:
    """What is set aside costs a teacher time: no repair of ours, right or wrong, may be."""
    exercise = exercises()[name]
    honest = [trial for trial in exercise.kind.trials(exercise) if trial.kind != "attack"]
    refused = [(trial.name, str(place)) for trial in honest for place in outside(trial.source, exercise.handed_out)]
    assert (len(honest) > 10 or exercise.kind.name == "five") and not refused, refused[:5]


def test_attacks_that_replace_or_forge_are_outside() -> None:
    text = tidy(Scenario("mlp").source)
    texts = {name: attack for name, attack in attacks(text).items() if is_python(attack)}
    refused = {name for name, attack in texts.items() if outside(attack, text)}
    assert len(refused) >= len(texts) / 2, sorted(set(texts) - refused)


def is_python(text: str) -> bool:
    try:
        parse(text)
    except SyntaxError:
        return False
    return True
