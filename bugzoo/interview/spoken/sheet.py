"""What the interviewer has in front of him while a spoken case is asked."""

from bugzoo.interview.spoken.cases import Spoken


def sheet(case: Spoken) -> str:
    """The sheet, in Markdown: the question, what is looked at first, the cause, follow-ups with good and poor answers."""
    [(fault, _)] = case.scenario.specs
    lines = [
        f"# {case.name.replace('_', ' ')}",
        "",
        f"Topic: {case.topic}, weight {case.weight}.",
        "",
        f"> {case.says}",
        "",
    ]
    lines += ["## First", "", f"- good: {case.first[0]}", f"- poor: {case.first[1]}", ""]
    lines += [
        "## What it is",
        "",
        f"{fault.title} (`{fault.id}` on `{case.program}`). {fault.why}",
        "",
        f"Repair: {fault.fix}",
        "",
    ]
    if fault.look_alikes:
        lines += ["## What it must be told from", ""]
        lines += [f"- {one.test} Here: {one.here} There: {one.there}" for one in fault.look_alikes[:3]]
        lines += [""]
    lines += ["## Follow-ups", ""]
    for question, good, poor in case.then:
        lines += [f"- **{question}**", f"  - good: {good}", f"  - poor: {poor}"]
    lines += ["", "## Hints, if nothing comes", "", *(f"{n}. {hint}" for n, hint in enumerate(fault.hints, 1)), ""]
    return "\n".join(lines)
