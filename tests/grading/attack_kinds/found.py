"""The recorder, or the witness, is found in the submission's own process, and what it holds is written anew."""
# ruff: noqa: E501 (a text that is handed in stands in one line)

from tests.grading.attack_kinds.parts import CLEARED, FINDERS, FORGE, FORGET, GC, NEVER, Kind, at, before_step, both

TIDY = "what was left is read as 0, and the steps that are worked out once more show the sum of old gradients"

KINDS = {
    f"found by {name}, and the leftovers cleared": Kind("10", TIDY, at("End", finder + CLEARED))
    for name, finder in FINDERS.items()
} | {
    "found, and the witness emptied": Kind(
        "10", "the supervisor was told of each kept step when it was kept: it may not be missing at the end",
        at("End", GC + CLEARED + FORGET),
    ),
    "found, and the witness told to keep nothing": Kind(
        "10", "steps that were asked for and taken have to be answered for", at("Model", GC + NEVER) ,
    ),
    "nothing kept, and the leftovers cleared": Kind(
        "10", "steps that were asked for and taken have to be answered for",
        both(at("Model", GC + NEVER), at("End", CLEARED)),
    ),
    "found, and the gradients of the kept steps worked out at the end": Kind(
        "10", "what was kept does not match what the supervisor was told of it at the step",
        at("End", GC + FORGE + CLEARED),
    ),
    "found, and another witness put there": Kind(
        "10", "an empty witness is no answer for the steps that were asked for",
        at("End", GC + CLEARED + "recorder.live.witness = type(recorder.witness)([])\n"),
    ),
    "no witness at all": Kind(
        "10", "steps that were asked for and taken have to be answered for",
        both(at("Model", GC + "recorder.witness = recorder.live.witness = None\n"), at("End", CLEARED)),
    ),
    "found, and its wanted steps read: right there only": Kind(
        "10", "what a step begins with is the sum of the steps before: one cleared alone has other weights, and leftovers show",
        both(
            at("Model", GC + "wanted = set(recorder.witness.wanted)\n"),
            before_step("if step + 1 in wanted:\n    pass\nelse:\n    pass"),
        ),
    ),
    "the table shared with an array of its own": Kind(
        "10", TIDY, both(at("Model", GC), before_step("recorder.table._data[: recorder.table.rows, 6] = 0.0")),
    ),
    "the column's view replaced": Kind(
        "10", TIDY, at("End", GC + "usual = recorder.table.column\nrecorder.table.column = lambda n: usual(n) * (n != 'leftover')\n"),
    ),
    "the losses written anew": Kind(
        "16", "the losses were told to the supervisor step by step, and its model learns no batch by heart",
        at("End", GC + "import numpy as np\nrows = recorder.table.rows\n"
           "recorder.table._data[:rows, 1] = np.geomspace(2.3, 0.1, rows)\n"),
    ),
    "the graph's record replaced": Kind(
        "16", "its training loss ends high, and no batch is learnt by heart",
        at("End", GC + "from bugzoo.watching.trace import Graph\n"
           "recorder.trace.graph = Graph('NllLossBackward0', False, (), 10, 32, 'mean')\nrecorder.walk_graph = False\n"),
    ),
    "the trace's class given another save": Kind(
        "10", "bugzoo's functions are compared with those that were there before the first line",
        at("End", "import sys\ntrace = sys.modules['bugzoo.watching.trace'].Trace\nusual = trace.save\n"
           "def save(self, path):\n    self.leftover = self.leftover * 0\n    return usual(self, path)\ntrace.save = save\n"),
    ),
    "the note of what changed emptied through a closure": Kind(
        "10", "the steps that are worked out once more show it",
        at("End", "import sys\ninside = sys.modules['bugzoo.grading.inside']\n"
           "cells = dict(zip(inside.examine.__code__.co_freevars, inside.examine.__closure__))\n"
           "cells['before'].cell_contents.clear()\n"
           "usual = cells['measure'].cell_contents\n"
           "from bugzoo.running.reading import Reading\n"
           "cells['measure'].cell_contents = lambda *a: usual(*a) | {'fresh_gradient': Reading(why_not='x')}\n" + GC + CLEARED),
    ),
    "sys.settrace lets no witness be called": Kind(
        "10", "steps that were asked for and taken have to be answered for",
        both(at("Model", GC + "import sys\ndef tracer(frame, event, arg):\n"
                "    if frame.f_code.co_name == 'at_step':\n        frame.f_locals['self'].wanted.clear()\n    return None\n"
                "sys.settrace(tracer)\n"), at("End", "sys.settrace(None)\n" + CLEARED)),
    ),
    "sys.setprofile clears the gradients while the witness copies": Kind(
        "10", "what was kept has the gradients' sum, whoever watches the calls",
        both(at("Model", GC + "import sys\ndef profiler(frame, event, arg):\n"
                "    if frame.f_code.co_name == 'at_step' and event == 'return':\n"
                "        for now in frame.f_locals['self'].found.values():\n            now.pop('rng', None)\n"
                "sys.setprofile(profiler)\n"), at("End", "sys.setprofile(None)\n" + CLEARED)),
    ),
    "the witness says that nothing could be kept": Kind(
        "10", "a program whose steps can be worked out, and of which hardly one can, is not graded",
        both(at("Model", GC + "recorder.witness.keep = lambda step: None\n"), at("End", CLEARED)),
    ),
    "the witness keeps another model's weights": Kind(
        "10", "the weights that are kept have the shapes of those that the model ends with",
        both(at("Model", GC + "other = nn.Linear(64, 10)\nusual = recorder.witness.at_forward\n"
                "recorder.witness.at_forward = lambda step, module, args: usual(step, other, args)\n"), at("End", CLEARED)),
    ),
    "an exit handler rewrites": Kind(
        "10", "what it writes comes after everything was saved", at("End", "import atexit\n" + GC +
           "atexit.register(lambda: recorder.table._data.__setitem__((slice(None), 6), 0.0))\n"),
    ),
    "a thread rewrites until the end": Kind(
        "10", TIDY, at("Model", GC + "import threading, time\ndef forever():\n    while True:\n"
           "        recorder.table._data[:, 6] = 0.0\n        time.sleep(0.001)\n"
           "threading.Thread(target=forever, daemon=True).start()\n"),
    ),
    "a finalizer rewrites": Kind(
        "10", TIDY, at("End", GC + "class Last:\n    def __del__(self, table=recorder.table):\n"
           "        table._data[:, 6] = 0.0\nlast = Last()\ndel last\n"),
    ),
}  # fmt: skip
