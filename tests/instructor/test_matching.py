"""Whose a hand-in is: as Moodle and Canvas name downloads, by numbers and names, by the notebook, by a map; never a guess."""

from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.instructor import hand_in_map, roster
from bugzoo.instructor.downloads import CANVAS, MOODLE, OTHER, Upload, joined, parse, words
from bugzoo.instructor.matching import Matches, match
from bugzoo.instructor.roster import Student
from bugzoo.instructor.submission import Submission, find

NAME = "week_5"
ADA, BEN, CEM = (
    Student("ada", "Lovelace", "Ada", "ada@uni.edu", numbers=("100200", "4711")),
    Student("ben", "Müller", "Ben"),
    Student("cem", "Öz-Demir", "Cem Ali"),
)
CLASS = [ADA, BEN, CEM]
DRAWN = {"aaa": "ada", "bbb": "ben", "ccc": "cem"}


@pytest.mark.parametrize(
    ("name", "upload"),
    [
        ("Ada Lovelace_100200_assignsubmission_file_", Upload("Ada Lovelace", MOODLE, "100200")),
        ("Ada Lovelace_100200_assignsubmission_file", Upload("Ada Lovelace", MOODLE, "100200")),
        ("Ada Lovelace_1_assignsubmission_onlinetext_", Upload("Ada Lovelace", MOODLE, "1")),
        ("Ada Lovelace_7_assignsubmission_file_week_5", Upload("Ada Lovelace", MOODLE, "7", "week_5")),
        ("lovelaceada_4711_998877_week_5", Upload("lovelaceada", CANVAS, "4711", "week_5")),
        ("lovelaceada_4711_998877_week_5-1", Upload("lovelaceada", CANVAS, "4711", "week_5", 1)),
        ("lovelaceada_LATE_4711_998877_week_5-12", Upload("lovelaceada", CANVAS, "4711", "week_5", 12)),
        ("öz-demir_4711_998877_a-b", Upload("öz-demir", CANVAS, "4711", "a-b")),
        ("ada", Upload("ada")),
        ("week_5", Upload("week_5")),
        ("ada_4711", Upload("ada_4711")),
    ],
)
def test_layouts(name: str, upload: Upload) -> None:
    assert parse(name) == upload and upload.layout in (MOODLE, CANVAS, OTHER)


def test_names() -> None:
    assert words("O’Brien,  Zoë J.") == ("obrien", "zoe", "j") == words("O'BRIEN Zoe\u0308 J")
    assert words("Öz-Demir") == ("oz", "demir") and words("Łukasz Weiß Ørsted") == ("lukasz", "weiss", "orsted")
    assert joined("Jan van der Berg") >= {"janvanderberg", "vanderbergjan", "bergjanvander"} and joined("") == set()


def one(entry: str, tag: str = "", **more: object) -> Submission:
    stem = entry.removesuffix(".ipynb")
    fields: dict = {"path": Path(entry), "notebook": parse(stem).notebook, "entry": entry, "tag": tag} | more
    return Submission(stem, **fields)


def of(*hand_ins: Submission, students: list[Student] = CLASS, drawn: dict[str, str] = DRAWN) -> Matches:
    return match(hand_ins, students, drawn, NAME)


def whose(*hand_ins: Submission, students: list[Student] = CLASS) -> dict[str, str]:
    return {hand_in.student: hand_in.entry for hand_in in of(*hand_ins, students=students).found}


@pytest.mark.parametrize(
    ("entry", "student"),
    [
        ("ada", "ada"), ("Ada.ipynb", "ada"), ("ada@uni.edu.ipynb", "ada"), ("4711", "ada"),
        ("Ada Lovelace_5_assignsubmission_file_", "ada"), ("LOVELACE Ada_5_assignsubmission_file_week_5.ipynb", "ada"),
        ("Somebody_100200_assignsubmission_file_", "ada"), ("x_4711_1_week_5.ipynb", "ada"),
        ("Ben Müller_6_assignsubmission_file_", "ben"), ("Ben Mu\u0308ller_6_assignsubmission_file_", "ben"),
        ("müllerben_12_998_week_5-1.ipynb", "ben"), ("mullerben_LATE_12_998_other.ipynb", "ben"),
        ("özdemircemali_13_99_week_5.ipynb", "cem"), ("Cem Ali Öz Demir_8_assignsubmission_file_", "cem"),
        ("Müller, Ben.ipynb", "ben"), ("muller_ben", "ben"),
    ],
)  # fmt: skip
def test_found_by_number_or_name(entry: str, student: str) -> None:
    matches = of(one(entry))
    assert [(hand_in.student, hand_in.upload_notes) for hand_in in matches.found] == [(student, ())]
    assert not matches.strangers and [left.id for left in matches.absent] == [s.id for s in CLASS if s.id != student]


@pytest.mark.parametrize(
    "entry",
    ["Ada King_5_assignsubmission_file_", "lovelace_12_1_week_5.ipynb", "Ada", "week_5.ipynb", "ada2", "471", ""],
)
def test_what_fits_nobody_is_left_over(entry: str) -> None:
    matches = of(one(entry), students=[ADA, BEN] if entry != "Ada" else [BEN, CEM])
    assert not matches.found and len(matches.absent) == 2
    assert [why for _, why in matches.strangers] == ["no student in the class list has this name or number"]


def test_two_students_of_one_name_are_told_apart_by_number_or_notebook_only() -> None:
    other = Student("ada2", "Lovelace", "Ada", numbers=("5",))
    two, entry = [ADA, other], "Ada Lovelace_{}_assignsubmission_file_"
    assert whose(one(entry.format(5)), one(entry.format(100200)), students=two) == {
        "ada2": entry.format(5), "ada": entry.format(100200)
    }  # fmt: skip
    matches = of(one(entry.format(6)), students=two)
    assert not matches.found and matches.strangers[0][1] == "its name or number fits ada and ada2"
    assert whose(one(entry.format(6), "aaa"), students=two) == {"ada": entry.format(6)}
    assert not of(one(entry.format(6), "bbb"), students=[*two, BEN]).found, "ben has another name"


def test_number_and_name_of_different_students_are_no_match() -> None:
    matches = of(one("Ben Müller_100200_assignsubmission_file_"))
    assert not matches.found and "fits ada and ben" in matches.strangers[0][1]


def test_one_name_under_two_numbers_may_be_two_people() -> None:
    """A student may have left the class list, and another of the same name may be in it."""
    matches = of(*(one(f"Ben Müller_{number}_assignsubmission_file_") for number in (6, 7)))
    assert not matches.found and {why for _, why in matches.strangers} == {
        "it fits ben, like another hand-in under another number"
    }
    chosen = one("Ben Müller_6_assignsubmission_file_", mapped="ben")
    matches = of(chosen, one("Ben Müller_7_assignsubmission_file_"))
    assert [hand_in.entry for hand_in in matches.found] == [chosen.entry] and len(matches.strangers) == 1


def test_the_upload_wins_over_the_notebook() -> None:
    """Ben uploads the notebook that was drawn for Ada: he answers for it."""
    assert whose(one("Ben Müller_6_assignsubmission_file_", "aaa"), one("ada", "aaa")) == {
        "ben": "Ben Müller_6_assignsubmission_file_", "ada": "ada"
    }  # fmt: skip


def test_the_notebook_decides_what_the_name_does_not() -> None:
    matches = of(one("final.ipynb", "bbb"))
    assert [(f.student, f.upload_notes) for f in matches.found] == [
        ("ben", ("found by its notebook, which was drawn for ben",))
    ]
    assert not of(one("final.ipynb", "zzz")).found, "a variant of another class"
    matches = of(one("final.ipynb", "bbb"), one("copy.ipynb", "bbb"))
    assert not matches.found and {why for _, why in matches.strangers} == {"its notebook was drawn for ben, as 1 more"}
    matches = of(one("final.ipynb", "bbb"), one("ben.ipynb"))
    assert [f.entry for f in matches.found] == ["ben.ipynb"]
    assert [why for _, why in matches.strangers] == ["its notebook was drawn for ben, who has another hand-in"]


def test_of_canvas_the_latest_upload_counts() -> None:
    uploads = [one(f"müllerben_12_{number}_week_5{end}.ipynb") for number, end in ((9, ""), (10, "-2"), (11, "-10"))]
    (hand_in,) = of(*uploads).found
    assert hand_in.entry == "müllerben_12_11_week_5-10.ipynb" and hand_in.problem == ""
    assert hand_in.upload_notes == (f"3 hand-ins; {hand_in.entry} counts, not {uploads[0].entry}, {uploads[1].entry}",)
    (hand_in,) = of(one("müllerben_12_9_week_5.ipynb"), one("müllerben_12_10_scratch-3.ipynb")).found
    assert hand_in.entry == "müllerben_12_9_week_5.ipynb" and hand_in.upload_notes, "it is called after the assignment"
    for others in ("a", "b"), ("a-1", "b-2"):
        (hand_in,) = of(*(one(f"müllerben_12_9_{name}.ipynb") for name in others)).found
        assert "keep the one that counts" in hand_in.problem and hand_in.path is None and hand_in.broken


def test_a_folder_and_a_file_of_one_student_cannot_be_graded() -> None:
    (hand_in,) = of(one("ada"), one("Ada Lovelace_5_assignsubmission_file_")).found
    assert hand_in.student == "ada" and "2 hand-ins of this student" in hand_in.problem
    (hand_in,) = of(one("ada", notebook=NAME), one("ada.ipynb")).found
    assert "2 hand-ins of this student" in hand_in.problem and hand_in.path is None


def test_a_typed_text_beside_the_notebook_is_no_second_hand_in(tmp_path: Path) -> None:
    for path in "file_/mine.ipynb", "onlinetext_/onlinetext.html":
        path = tmp_path / f"Ada Lovelace_5_assignsubmission_{path}"
        path.parent.mkdir()
        path.write_text("{}")
    (tmp_path / "müllerben_12_9_week_5.zip").write_text("")
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / "readme.txt").write_text("")
    matches = of(*find(tmp_path, NAME))
    assert not matches.strangers and [left.id for left in matches.absent] == ["cem"]
    ada, ben = matches.found
    assert ada.problem == "" and ada.path and ada.path.name == "mine.ipynb" and "onlinetext" in ada.upload_notes[0]
    assert "does not end in .ipynb" in ben.problem and ben.broken


def test_notes_on_names(tmp_path: Path) -> None:
    for path in (
        "ada/week_5.ipynb ada/scratch.ipynb ben/final.ipynb cem/week_5.ipynb dot.ipynb x_1_2_week_5-1.ipynb "
        "x_1_2_mine-1.ipynb y_1_assignsubmission_file_mine.ipynb eve/week_4/week_4.ipynb eve/week_5/week_5.ipynb"
    ).split():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("{}")
    assert {hand_in.entry: hand_in.upload_notes for hand_in in find(tmp_path, NAME)} == {
        "ada": ("the folder has 2 notebooks; week_5.ipynb counts",),
        "ben": ("the notebook was renamed to final.ipynb",),
        "cem": (),
        "dot.ipynb": (),
        "eve": (),
        "x_1_2_mine-1.ipynb": ("the notebook was renamed to mine.ipynb",),
        "x_1_2_week_5-1.ipynb": (),
        "y_1_assignsubmission_file_mine.ipynb": ("the notebook was renamed to mine.ipynb",),
    }


def test_what_is_left_over_is_told_and_nothing_else() -> None:
    of(one("ada"), one("ben"), one("cem")).refuse()
    with pytest.raises(UserError) as caught:
        of(one("ada"), one("Ada\x07 King"), one("final")).refuse()
    assert str(caught.value).splitlines() == [
        "Not everything fits the class list: 2 hand-ins without a student, 2 students without a hand-in. Nothing was "
        "graded.",
        "Hand-ins without a student:",
        "  Ada\\x07 King: no student in the class list has this name or number",
        "  final: no student in the class list has this name or number",
        "Students without a hand-in:",
        "  ben Ben Müller",
        "  cem Cem Ali Öz-Demir",
        "Write whose they are into a CSV file that begins with hand_in,student, and add --map FILE.",
        "To go on, add --unmatched ok: hand-ins without a student are graded under their own names, and students without "
        "a hand-in get 0 points.",
    ]
    with pytest.raises(UserError) as caught:
        of(one("ada"), one("ben")).refuse()
    assert "1 student without a hand-in. " in str(caught.value) and "--map" not in str(caught.value)


def test_going_on_keeps_everybody() -> None:
    submissions = of(one("ada"), one("guest.ipynb")).all()
    assert [(f.student, f.upload_notes) for f in submissions] == [
        ("ada", ()), ("guest", ("left over: no student in the class list has this name or number",))
    ]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    submitted = tmp_path / "submitted"
    for path in "Ada King_5_assignsubmission_file_/week_5.ipynb", "team/a.ipynb", "team/b.ipynb", "ben.ipynb":
        (submitted / path).parent.mkdir(exist_ok=True, parents=True)
        (submitted / path).write_text("{}")
    return submitted


def mapped(folder: Path, *lines: str) -> list[Submission]:
    path = folder.parent / "whose.csv"
    path.write_text("\n".join(["hand_in,student", *lines, ""]), encoding="utf-8")
    return hand_in_map.apply(find(folder, NAME), hand_in_map.read(path, folder), folder, {"ada", "ben", "cem"})


def test_a_map_wins(folder: Path) -> None:
    """Over a name that fits another student, and for one notebook of a folder; a shell's completion is understood."""
    submissions = mapped(
        folder, "ben.ipynb,ada", f"{folder}/Ada King_5_assignsubmission_file_/,cem", "team/b.ipynb,ben"
    )
    matches = of(*submissions)
    assert {hand_in.student: hand_in.path for hand_in in matches.found} == {
        "ada": folder / "ben.ipynb",
        "ben": folder / "team/b.ipynb",
        "cem": folder / "Ada King_5_assignsubmission_file_/week_5.ipynb",
    }
    assert not matches.strangers and not matches.absent


def test_a_map_chooses_among_the_hand_ins_of_a_student(folder: Path) -> None:
    (hand_in,) = of(*mapped(folder, "team/a.ipynb,ben")[1:]).found
    assert hand_in.path == folder / "team/a.ipynb" and hand_in.upload_notes == (
        "2 hand-ins; team counts, not ben.ipynb",
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["nobody.ipynb,ada"], "has no such hand-in"),
        (["ben.ipynb,dot"], "who is not in the class list"),
        (["ben.ipynb,ada", "team/a.ipynb,ada"], "line 3: ben.ipynb is already given to ada"),
        (["ben.ipynb,ada", "./ben.ipynb,ben"], "line 3: ben.ipynb is already given to ada"),
        (["ben.ipynb,"], "line 2: 'ben.ipynb' has no partner"),
        (["team/c.ipynb,ada"], "is not a notebook"),
        (["team/../ben.ipynb,ada"], "is not a notebook"),
        (["team,ada", "team/a.ipynb,ben"], "line 3: team is already given to ada"),
        (["team/a.ipynb,ben", "team,ada"], "line 3: team/a.ipynb is already given to ben"),
    ],
)
def test_maps_that_do_not_fit(folder: Path, lines: list[str], said: str) -> None:
    with pytest.raises(UserError) as caught:
        mapped(folder, *lines)
    assert said in str(caught.value)


def test_what_is_no_map(tmp_path: Path) -> None:
    (tmp_path / "whose.csv").write_text("file,who\na,b\n")
    with pytest.raises(UserError, match="Begin it with the line hand_in,student"):
        hand_in_map.read(tmp_path / "whose.csv", tmp_path)
    with pytest.raises(UserError, match="could not be read"):
        hand_in_map.read(tmp_path / "none.csv", tmp_path)


def test_the_class_is_the_roster_and_the_manifest() -> None:
    people = {"ada": {"last_name": "Other"}, "dot": {"first_name": "Dot", "last_name": "Matrix", "tag": "ddd"}}
    students = roster.of([ADA], people)
    assert students == [ADA, Student("dot", "Matrix", "Dot")] and students[1].name == "Dot Matrix"
