"""`bugzoo checkup --html`: the report as one page that needs no network, in light or dark mode."""

import html
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bugzoo.contracts import PREFIX, contract
from bugzoo.diagnostics import question
from bugzoo.diagnostics.checkup import Report
from bugzoo.diagnostics.numbers import of_instrument
from bugzoo.errors import UserError
from bugzoo.pages.text import number
from bugzoo.proving import listing
from bugzoo.proving.next_test import next_test
from bugzoo.syntax import source_lines

AROUND = 3
"""Lines shown before and after a suspect's own."""
HEADS = {"found": "Something is wrong", "nothing": "Nothing found", "unjudged": "Not judged"}
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f23; --soft: #57606a; --line: #d0d7de; --page: #fff; --box: #f6f8fa;
  --mark: #fff3cd; --edge: #b35900; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b1; --line: #3d444d; --page: #0d1117;
  --box: #161b22; --mark: #3a2d00; --edge: #e69f00; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 60rem;
  margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem } h3 { font-size: 1rem; margin: 0 }
section { border: 1px solid var(--line); border-radius: 6px; padding: .9rem 1.1rem; margin: .8rem 0 }
section.first { border-left: 5px solid var(--edge) }
p { margin: .4rem 0 } .soft { color: var(--soft) } code, pre { font: .87rem/1.5 ui-monospace, monospace }
pre { background: var(--box); padding: .5rem 0; overflow-x: auto; border-radius: 6px; overflow-wrap: normal }
pre span { display: block; padding: 0 .8rem } pre .at { background: var(--mark); border-left: 4px solid var(--edge);
  padding-left: calc(.8rem - 4px); font-weight: 600 }
table { border-collapse: collapse; width: 100%; font-size: .92rem } td, th { text-align: left; vertical-align: top;
  padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line) } td.n { white-space: nowrap }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .9rem; margin: .5rem 0 } dt { color: var(--soft) }
dd { margin: 0 } figure { margin: .6rem 0 0 } figure svg { max-width: 100%; height: auto }
figure svg text { fill: var(--ink) !important } summary { cursor: pointer }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr } dt { margin-top: .3rem } }
"""


def page(report: Report, tests: Mapping[str, Any]) -> str:
    """Return the whole page. `tests`: cause -> NextTest, from `next_tests`."""
    lines = _lines(report.file)
    remain = report.remaining
    parts = [_head(report)]
    if report.run is not None and len(report.run.trace.step):
        parts += ["<h2>The run</h2>", _figure(_curves(report.run), _said(report.run))]
    if remain:
        parts.append("<h2>Suspects, most likely first</h2>")
        parts += [_suspect(place, one, report, tests.get(one.cause), lines) for place, one in enumerate(remain, 1)]
    parts += [_readings(report), _findings(report), _warned(report)]
    fired = [verdict for verdict in report.verdicts if verdict.fired]
    if fired:
        parts += ["<h2>Instruments that fired</h2>", *(_fired(verdict, report) for verdict in fired)]
    parts += [_quiet(report), _unchecked(report)]
    title = html.escape(f"{Path(report.file).name}: {HEADS[report.outcome].lower()}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def _head(report: Report) -> str:
    ran = f"{report.steps} optimizer steps in {report.seconds:.1f} s" if report.steps else "no optimizer step"
    why = f"<p>{_sentence(report.why)}</p>" if report.why else ""
    count = len(report.remaining)
    more = f", {count} suspect{'s' * (count != 1)}" if count else ""
    head = "No cause named" if report.readings and report.outcome == "nothing" else HEADS[report.outcome]
    return (
        f"<h1>{head}{more}</h1>\n"
        f'<p class="soft"><code>{html.escape(report.file)}</code>: {ran}; the run {html.escape(_ended(report))}</p>{why}'
    )


def _ended(report: Report) -> str:
    outcome = report.run_outcome.replace("_", " ")
    return {"finished": "finished", "timed out": "was stopped at its time limit", "": "was not seen"}.get(
        outcome, f"ended as {outcome}"
    )


def _sentence(text: str) -> str:
    return html.escape(f"{text[0].upper()}{text[1:].rstrip('.')}.") if text else ""


def _suspect(place: int, suspect: Any, report: Report, test: Any, lines: Sequence[str]) -> str:
    row = _catalogue(suspect.cause)
    title = f"{place}. {html.escape(suspect.cause)}"
    parts = [f"<section class={'first' if place == 1 else 'other'}><h3>{title} "]
    parts.append(f'<span class="soft">score {suspect.score:.2f}</span></h3>')
    parts.append(f"<p>{_sentence(suspect.reason)}</p>")
    if suspect.line:
        parts.append(_excerpt(lines, suspect.line))
    told = []
    if row:
        told += [("why", html.escape(listing.general(row["why"]))), ("fix", html.escape(row["fix"]))]
    if suspect.cause.startswith(PREFIX):
        asked = contract(suspect.cause)
        told += [("fix", _code(asked.instead)), ("documentation", _link(asked.page))]
    if test:
        told.append(("next test", html.escape(test.test)))
        told.append(("if it is this", html.escape(test.if_this)))
        told.append((f"if it is <code>{html.escape(test.against)}</code>", html.escape(test.if_other)))
    for other in report.belonging(suspect):
        how = "follows from it" if other.explained_by else "the same evidence supports it"
        told.append(("so" if other.explained_by else "or", f"<code>{html.escape(other.cause)}</code>: {how}"))
    parts.append(_pairs(told))
    return "".join(parts) + "</section>"


def _readings(report: Report) -> str:
    """Return what was measured and is too little to name a cause."""
    rows = []
    for one in report.readings:
        test = next_test(one.could_be[0], one.could_be[1:]) if one.could_be else None
        told = f"<br>Test: {html.escape(test.test)}" if test else ""
        rows.append(f"<tr><td>{html.escape(question(one.instrument))}</td><td>{_sentence(one.message)}{told}</td></tr>")
    head = "Also measured" if report.suspects else "Measured"
    return f"<h2>{head}, and too little to name a cause</h2><table>{''.join(rows)}</table>" if rows else ""


def _findings(report: Report) -> str:
    """Return the library calls whose demands are not met, without those that are suspects."""
    rows = [
        f'<tr><td class="n">line {one.line}</td><td>{_code(f"{one.demand} {one.given} {one.instead}")} {_link(one.page)}'
        f"{f'<br>Silenced there: {html.escape(one.silenced)}' if one.silenced else ''}</td></tr>"
        for one in report.findings
        if one.silenced or not one.effect
    ]
    return f"<h2>What a library asks for here</h2><table>{''.join(rows)}</table>" if rows else ""


def _warned(report: Report) -> str:
    """Return what libraries warned of, with the script's lines."""
    places = [f"line {one['line']}" if one["line"] else "" for one in report.warned]
    rows = [
        f'<tr><td class="n">{place}</td><td>{html.escape(one["message"])}</td></tr>'
        for place, one in zip(places, report.warned, strict=True)
    ]
    return f"<h2>Warnings of libraries</h2><table>{''.join(rows)}</table>" if rows else ""


def _code(text: str) -> str:
    """Return text with its `code` marked up."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def _link(page: str) -> str:
    return f'<a href="{html.escape(page)}">{html.escape(page.rpartition("/")[2].removesuffix(".html"))}</a>'


def _catalogue(cause: str) -> dict[str, Any]:
    if cause.startswith(PREFIX):
        return {}
    try:
        return listing.detail(cause)
    except UserError:
        return {}


def _pairs(told: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in told)
    return f"<dl>{rows}</dl>" if rows else ""


def _excerpt(lines: Sequence[str], line: int) -> str:
    """Return the lines around line `line`, from 1; it is marked by more than its color."""
    if not 1 <= line <= len(lines):
        return f"<p>Line {line}.</p>"
    shown = []
    for at in range(max(1, line - AROUND), min(len(lines), line + AROUND) + 1):
        text = html.escape(f"{at:>5} {'>' if at == line else ' '} {lines[at - 1].rstrip()}")
        shown.append(f"<span class={'at' if at == line else 'by'}>{text}</span>")
    return f"<pre>{''.join(shown)}</pre>"


def _lines(file: str) -> list[str]:
    try:
        return source_lines(Path(file).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []


def _fired(verdict: Any, report: Report) -> str:
    record = of_instrument(verdict.instrument)
    rows = [
        f'<tr><td>{html.escape(record[key].label)}</td><td class="n">{number(value)}</td>'
        f"<td>{html.escape(record[key].usual_text())}</td></tr>"
        for key, value in verdict.numbers.items()
        if record[key].label
    ]
    table = f"<table><tr><th>measured</th><th></th><th>usual</th></tr>{''.join(rows)}</table>" if rows else ""
    picture = _figure(_picture(verdict.instrument, report.run), question(verdict.instrument)) if report.run else ""
    return (
        f'<section><h3>{html.escape(question(verdict.instrument))} <code class="soft">{verdict.instrument}</code></h3>'
        f"<p>{_sentence(verdict.message)}</p>{table}{picture}</section>"
    )


def _quiet(report: Report) -> str:
    rows = [
        f"<tr><td>{html.escape(question(v.instrument))}</td><td>{_sentence(v.message)}</td></tr>"
        for v in report.verdicts
        if not v.fired
    ]
    if not rows:
        return ""
    return (
        f"<h2>Instruments that did not fire</h2><details><summary>{len(rows)} instruments</summary>"
        f"<table>{''.join(rows)}</table></details>"
    )


def _unchecked(report: Report) -> str:
    reasons: dict[str, list[str]] = {}
    for item in report.not_checked:
        reasons.setdefault(item["why"], []).append(item["instrument"])
    rows = [f"<tr><td>{html.escape(', '.join(who))}</td><td>{_sentence(why)}</td></tr>" for why, who in reasons.items()]
    return f"<h2>Not checked, and why</h2><table>{''.join(rows)}</table>" if rows else ""


def _said(run: Any) -> str:
    """Return the curve in words, for readers who cannot see it."""
    finite = [float(value) for value in run.trace.loss if abs(float(value)) < float("inf")]
    if not finite:
        return "No finite loss was recorded."
    return f"The loss starts at {finite[0]:.3g}, ends at {finite[-1]:.3g}, and its lowest value is {min(finite):.3g}."


def _figure(svg: str, said: str) -> str:
    if not svg:
        return ""
    label = html.escape(said, quote=True)
    return f'<figure role="img" aria-label="{label}">{svg}</figure>'


def _curves(run: Any) -> str:
    """Return loss and gradient norm over the steps, side by side, as SVG."""
    from bugzoo.plots import loss_curve
    from bugzoo.plots._style import BLUE, absent, curve, prepare

    figure, (left, right) = _axes(2, (9.6, 3.0))
    loss_curve.draw(run, left)
    prepare(right, "Gradient norm", "step", "norm")
    if not curve(right, run.trace.step, run.trace.grad_norm, "", BLUE):
        absent(right, "no finite gradient was recorded")
    return _svg(figure)


def _picture(name: str, run: Any) -> str:
    """Return the instrument's own picture; "" if it cannot draw this run."""
    from bugzoo.plots import draw

    figure, (ax,) = _axes(1, (7.2, 2.9))
    try:
        draw(name, run, ax)
    except Exception:  # a page without one picture is still useful
        return ""
    return _svg(figure)


def _axes(count: int, size: tuple[float, float]) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(1, count, squeeze=False)[0]


def _svg(figure: Any) -> str:
    """Return a figure as SVG for the page; text stays text, in the page's color."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
