"""The line-ups: one short declaration a file, `LINEUP = Lineup(...)`, named as its notebook will be.

The file names, like everything that a learner sees, speak of what is asked and never of the cause.
"""
