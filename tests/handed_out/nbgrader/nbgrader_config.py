c = get_config()  # noqa: F821
c.Execute.timeout = 300  # seconds a cell: grading trains a program several times; nbgrader's own limit is 30
c.ClearSolutions.code_stub = {"python": "# Here by code, where the form above is not enough: YOUR CODE HERE"}  # nothing that fails beside a form
