"""Practice that lasts: what comes back, when, and in which new clothes.

    from bugzoo import practice
    now = practice.standing()          # what the record says of each cause: when it is due, how well it is known
    hand = practice.deal(now, 10)      # cards of what is due, what looks like it, and now and then nothing wrong

A cause (a fault of the catalogue) is what is remembered, whatever it was met in: a card, a drill, an exercise, a hunt. FSRS,
of the package `fsrs`, says when it fades; it then comes back on another program, in other dialects, under another ticket.
"""

from bugzoo.practice.answers import Answer, answers
from bugzoo.practice.figures import figures
from bugzoo.practice.hand import Turn, deal
from bugzoo.practice.memory import Memory, Standing, standing
from bugzoo.practice.plan import Plan, plan

__all__ = ["Answer", "Memory", "Plan", "Standing", "Turn", "answers", "deal", "figures", "plan", "standing"]
