"""`bugzoo differ` in a real process: the step and the line, as text and as JSON, and refusals."""

import json
import subprocess
import sys

from tests.watching.test_divergence import BASE, CLIPPED


def bugzoo(*words, cwd):
    return subprocess.run([sys.executable, "-m", "bugzoo", "differ", *words], cwd=cwd, capture_output=True, text=True)


def test_two_scripts_with_modules_of_the_same_name_are_told_apart(tmp_path):
    """Neither sets a seed; each has a `settings.py` beside it."""
    text = BASE.replace("torch.manual_seed(3)", "from settings import LIMIT").replace("0.05", "LIMIT")
    for name, edit in (("healthy", ("", "")), ("ill", CLIPPED)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(text.replace(*edit, 1))
        (tmp_path / name / "settings.py").write_text(f"LIMIT = {0.05 if name == 'ill' else 0.5}")
    said = bugzoo("ill/train.py", "healthy/train.py", "--json", "told.json", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    told = json.loads((tmp_path / "told.json").read_text())
    assert (told["differs"], told["step"], told["what"], told["steps"]) == (True, 41, "gradient at the step", 96)
    assert told["here"]["file"] == str(tmp_path / "ill/train.py") and told["message"] in said.stdout
    same = bugzoo("ill/train.py", "healthy/train.py", "--steps", "40", cwd=tmp_path)
    assert same.returncode == 0 and "No difference: 40 steps" in same.stdout


def test_a_script_that_makes_no_step_is_bad_input(tmp_path):
    (tmp_path / "train.py").write_text(BASE)
    (tmp_path / "torn.py").write_text("import no_such_module\n")
    said = bugzoo("train.py", "torn.py", "--steps", "3", cwd=tmp_path)
    assert said.returncode == 2 and not said.stdout
    assert "torn.py made no optimiser step" in said.stderr and "no_such_module" in said.stderr
