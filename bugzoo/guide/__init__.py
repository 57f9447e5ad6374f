"""The map: which ways lead through the lab, what has been done so far, and what comes next.

    from bugzoo import guide
    guide.show()              # in a notebook: choose a way, see its plan
    guide.way("weekend")      # choose one by a call; the record keeps it
    guide.next_step()         # what to do now

Nobody writes a plan: it is computed from the lessons and exercises that there are, and from the learner's record.
"""

from bugzoo.guide.done import Standing, standing
from bugzoo.guide.notebook import Map, begin, seen, show, way
from bugzoo.guide.plans import Part, Step, Way, next_step, ways

__all__ = ["Map", "Part", "Standing", "Step", "Way", "begin", "next_step", "seen", "show", "standing", "way", "ways"]
