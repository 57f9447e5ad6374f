"""A course's life: due dates and late days, overrides, feedback, what the items tell, and which hand-ins are alike.

Records of a class stay as the grader wrote them. What is said here about them is worked out each time that they are
read, so that a changed policy or override grades nothing again:

- `policy` and `overrides` read the instructor's files; `standing` works out the points that count
- `items` tells how hard each item was and whether it sorts the class; `item_table` says it
- `likeness` compares what students changed, by `shapes`; `likeness_page` draws it side by side
- `feedback` is a student's own page, with the curve that `runs` keeps
"""
