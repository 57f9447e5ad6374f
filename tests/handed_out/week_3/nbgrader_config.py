# nbgrader reads this file from the folder where it is started
c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "week_3"
c.ExecutePreprocessor.timeout = 300  # seconds per cell; graded cells train the program several times
# a stub that does not raise next to a form
c.ClearSolutions.code_stub = {"python": "# Nothing to type: press Hand in above and save. Without buttons: first.hand_in(cause=\"...\", place=57)"}
# what the forms handed in is in the outputs, which nbgrader clears: this copies it into cells first
c.Autograde.sanitize_preprocessors.insert(0, "bugzoo.instructor.autograde.FormRecords")
