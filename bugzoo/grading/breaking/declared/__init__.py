"""One short declaration a file, `BREAKING = Breaking(...)`, named as its notebook will be.

The file names, like everything that a learner sees, speak of what is asked and never of the edit.
"""
