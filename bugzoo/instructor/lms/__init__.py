"""What learning management systems take and give: a file a system, `nbgrader`, `canvas`, `moodle`, `gradescope`.

`intake.collect` reads a download of any of them, `outlets` fills in their own files. Between the two stand `tree` and
`unpack` (files of a folder or a zip), `handin` (one student's), `people` (whose it is) and `sheet` (CSV).
"""
