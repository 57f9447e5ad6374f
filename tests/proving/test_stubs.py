"""What `bugzoo new` refuses; that what it writes works is shown in `tests/test_adding.py`."""

from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.proving import stubs


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(stubs, "_home", lambda *parts: tmp_path.joinpath(*parts))
    for folder in ("programs", "diagnostics", "lessons", "grading/exercises"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("program", "Small-MLP", r"not a name for a program\. Write it in lower case, like tabular_mlp"),
        ("program", "mlp", "There is already a program mlp"),
        ("instrument", "loss_curve", "There is already an instrument loss_curve"),
        ("instrument", "../away", "not a name for an instrument"),
        ("exercise", "slow_start", r"not a name for an exercise\. Write it in lower case, like 08_slow_start"),
        ("exercise", "04_another", r"04_\w+ already has the number 04"),
        ("lesson", "03_another", "03_hunting_nan already has the number 03"),
    ],
)
def test_what_is_refused(kind: str, name: str, said: str, elsewhere: Path) -> None:
    with pytest.raises(UserError, match=said):
        stubs.write(kind, name)
    assert not [file for file in elsewhere.rglob("*") if file.is_file()]


@pytest.mark.parametrize("kind", stubs.KINDS)
def test_nothing_is_overwritten(kind: str) -> None:
    name = stubs.KINDS[kind].example.replace("08", "97").replace("04", "96")
    file = stubs.write(kind, name)
    before = file.read_text(encoding="utf-8")
    compile(before, str(file), "exec")
    file.write_text(before + "# mine\n", encoding="utf-8")
    with pytest.raises(UserError, match="Choose another"):
        stubs.write(kind, name)
    assert file.read_text(encoding="utf-8").endswith("# mine\n")
