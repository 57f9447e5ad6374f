"""What a script prints in another thread, and what happens to a `print` that is under way when the script ends."""

import subprocess
import sys

LATE = """
import gc
from bugzoo.running.printing import Printed

printed = Printed(100, passing=False)
printed.__enter__()


class Late:
    def __str__(self):
        printed.__exit__()  # the script's thread ends while this one is in the middle of its print
        gc.collect()
        return "late"


print(Late(), "and more")
print(repr(printed.text()))
"""


def test_a_print_that_is_under_way_when_the_script_ends_is_kept() -> None:
    process = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == 0, process.stderr  # it may end in a segmentation fault
    assert process.stdout == "'late and more\\n'\n"
