"""The page of a class: a small server for instructors, on one SQLite file, of which nothing leaves the machine.

`store` keeps everything, `passwords` and `sessions` say who may look, `taking` reads hand-ins, `grader` is the process that
grades in the background and `grading` starts and stops it, `view` is what the pages show, `handlers` and `app` answer.
"""
