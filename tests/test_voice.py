"""What a person reads: the field's words, American spelling, and short sentences (`tests/voice.py` has the rules)."""

import ast
from pathlib import Path

import pytest

from bugzoo import course, diagnostics, faults
from bugzoo.diagnostics.numbers import of_instrument
from bugzoo.glossary import TERMS
from tests import voice

ROOT = voice.ROOT
SHIPPED = sorted(
    file
    for pattern in (
        "bugzoo/**/*.py",
        "bugzoo/**/*.j2",
        "notebooks/*.ipynb",
        "exercises/*.ipynb",
        "README.md",
        "CONTRIBUTING.md",
        "tests/README.md",
        "docs/*.md",
    )
    for file in ROOT.glob(pattern)
    if file.name != "glossary.py" and "programs" not in file.parts and "faults" not in file.parts
)


KEYS = {"another optimiser", "as handed out, blamed"}
"""Names of submissions, which are keys of the ledger."""


@pytest.mark.parametrize("fault", faults.catalogue().values(), ids=lambda fault: fault.id)
def test_a_fault_is_said_in_plain_words(fault):
    assert list(voice.of_fault(fault)) == []


def test_no_text_has_a_coined_phrase_or_a_british_spelling():
    problems = [
        f"{file.relative_to(ROOT)}:{line}: {word!r}; write: {say}"
        for file in SHIPPED
        for line, text in voice.prose_of(file)
        if text not in KEYS
        for word, say in voice.wrong(text)
    ]
    assert len(SHIPPED) > 500 and problems == []


@pytest.mark.parametrize("name", diagnostics.names())
def test_an_instrument_asks_briefly_and_labels_its_numbers(name):
    question = diagnostics.question(name)
    assert 4 <= len(question.split()) <= 18 and question.endswith("?"), question
    for number in of_instrument(name).values():
        assert bool(number.label or number.hidden) and len(number.label.split()) <= 16, number


@pytest.mark.parametrize("name", diagnostics.names())
def test_the_messages_of_an_instrument_are_short(name):
    tree = ast.parse((Path(diagnostics.__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    messages = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    assert [text for text in messages if list(voice.long_ones(text))] == []


@pytest.mark.parametrize("name", diagnostics.names())
def test_an_instrument_says_where_it_is_wrong(name):
    text = diagnostics.declared(name)["KNOWN_PROBLEMS"]
    assert len(voice.sentences(text)) == 2 and not list(voice.long_ones(text)), text


def test_the_glossary_is_in_order_and_says_where_each_term_is_met():
    names = [term.name for term in TERMS]
    assert names == sorted(set(names), key=str.lower) and len(names) >= 120
    lessons = {file.stem[:2] for file in course.files().values()}
    assert "03" in lessons
    for term in TERMS:
        assert len(voice.sentences(term.text)) == 2 and not list(voice.long_ones(term.text)), term.text
        assert set(term.instruments) <= set(diagnostics.names()), term.name
        assert all(len(number) == 2 and number.isdigit() for number in term.lessons)
        assert all(word == word.lower() for word in term.instead_of)


def test_every_fault_names_terms_of_the_glossary():
    terms = {term.name for term in TERMS}
    for fault in faults.catalogue().values():
        assert fault.terms and set(fault.terms) <= terms, fault.id
        assert len(fault.terms) == len(set(fault.terms)), fault.id


def test_the_rules_can_be_broken():
    assert [word for word, _ in voice.wrong("Nobody normalises the optimiser behind the step.")] != []
    phrase = next(iter(voice.COINED))
    assert (phrase.upper(), voice.COINED[phrase]) in list(voice.wrong(f"So {phrase.upper()} it is."))
    assert list(voice.wrong("`initialisation/dead_relu` and `optimiser` are names in code.")) == []
    assert list(voice.long_ones("word " * 26)) and not list(voice.long_ones("word " * 25))
