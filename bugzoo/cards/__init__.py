"""Spot-the-bug cards: about ten lines of a program, one fault in them or none, some seconds to name the line.

    bugzoo cards                      # in the terminal
    cards.show(lesson="03")           # in a notebook

Nobody writes a card: its lines are cut out of what a fault's own edit makes of a program.
"""

from bugzoo.cards.card import Card
from bugzoo.cards.deck import deal, families, inventory
from bugzoo.cards.notebook import Hand, show

__all__ = ["Card", "Hand", "deal", "families", "inventory", "show"]
