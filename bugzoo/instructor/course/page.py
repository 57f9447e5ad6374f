"""A page of HTML in one file: no network, no script, for a light and a dark screen. All text that goes in is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from bugzoo.instructor.submission import readable

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f23; --soft: #57606a; --line: #d0d7de; --page: #fff; --box: #f6f8fa;
  --came: #dbeeff; --went: #ffe9d6; --edge: #b35900; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b1; --line: #3d444d; --page: #0d1117;
  --box: #161b22; --came: #10304d; --went: #4a2a10; --edge: #e69f00; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 75rem;
  margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem }
p { margin: .4rem 0 } .soft { color: var(--soft) } code, pre { font: .85rem/1.45 ui-monospace, monospace }
table { border-collapse: collapse; width: 100%; font-size: .93rem } td, th { text-align: left; vertical-align: top;
  padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line) } td.n, th.n { text-align: right; white-space: nowrap }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem } .sides > div { min-width: 0 }
pre { background: var(--box); padding: .5rem 0; overflow-x: auto; border-radius: 6px; overflow-wrap: normal }
pre span { display: block; padding: 0 .8rem; white-space: pre } pre .came { background: var(--came) }
pre .went { background: var(--went) } pre .at { color: var(--soft) }
.look { border-left: 4px solid var(--edge); padding-left: .6rem }
figure { margin: .6rem 0 0 } figure svg { max-width: 100%; height: auto }
figure svg text { fill: var(--ink) !important } figcaption { color: var(--soft); font-size: .9rem }
@media (max-width: 50rem) { .sides { grid-template-columns: 1fr } }
"""


def text(value: object) -> str:
    """What somebody wrote, as text of a page: neither markup nor a terminal's codes."""
    return escape(readable(str(value)))


def table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: Iterable[int] = ()) -> str:
    """A table; the columns of `numbers` are set to the right."""
    right = set(numbers)
    kind = ["n" if at in right else "" for at in range(len(head))]
    lines = ["<tr>" + "".join(f'<th class="{kind[at]}">{text(one)}</th>' for at, one in enumerate(head)) + "</tr>"]
    for row in rows:
        lines.append(
            "<tr>" + "".join(f'<td class="{kind[at]}">{text(one)}</td>' for at, one in enumerate(row)) + "</tr>"
        )
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def whole(title: str, body: Iterable[str]) -> str:
    """The page. Its policy for content allows nothing but the style in it, whatever stands in the body."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )
