"""Templates: HTML escapes what it is given, Markdown does not, and a misspelled name is an error."""

import jinja2
import pytest

from bugzoo.templates import environment, render


@pytest.fixture(autouse=True)
def texts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"a.html.j2": "<b>{{ word }}</b>", "a.md.j2": "{% if word %}\n{{ word }}\n{% endif %}\n"}
    monkeypatch.setattr(environment("bugzoo.pages"), "loader", jinja2.DictLoader(texts))


def test_only_html_is_escaped() -> None:
    assert render("bugzoo.pages", "a.html.j2", word="<i> & co") == "<b>&lt;i&gt; &amp; co</b>"
    assert render("bugzoo.pages", "a.md.j2", word="<i> & co") == "<i> & co\n"


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="word"):
        render("bugzoo.pages", "a.md.j2", wrod="misspelled")
