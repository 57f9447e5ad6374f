"""The kinds of exercises: what each asks of a learner, in one module or folder.

    Repair     find a fault and repair it
    Nothing    the same, and nothing is wrong: the fault is a trap
    Break      get the healthy program, and write an edit that produces a symptom
    Crash      a repair that begins with a traceback: which line raised it, and which one has to change?
    Decoy      a repair beside something odd and harmless, which has to stay
    Five       five recorded runs without code: which one is broken?
    Two        a repair of two faults, with a diagnosis form for each

An exercise declares its kind, and everything else asks it: for the notebook's cells, the grade, the debrief, and the
hand-ins that prove it. `Repair` says what an ordinary exercise does, and each other kind where it differs. A new kind is one
module, which is named below, and its test. A module loads what it calls when it is called, as the list of exercises needs
none of it.
"""

from bugzoo.grading.kinds.break_ import Break
from bugzoo.grading.kinds.crash import Crash
from bugzoo.grading.kinds.decoy import Decoy
from bugzoo.grading.kinds.five import Five, Healthy
from bugzoo.grading.kinds.nothing import Nothing
from bugzoo.grading.kinds.repair import Repair
from bugzoo.grading.kinds.two import Two

__all__ = ["Break", "Crash", "Decoy", "Five", "Healthy", "Nothing", "Repair", "Two"]
