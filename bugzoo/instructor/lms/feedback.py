"""What a student is told about a hand-in: what was seen, and nothing of the answer."""

from collections.abc import Iterator

from bugzoo.instructor.records import Record


def parts(record: Record) -> Iterator[tuple[str, float, float, str]]:
    """(name, points, of how many, what was seen) of repair and diagnosis."""
    for name, part in (("Repair", record.repair), ("Diagnosis", record.diagnosis)):
        if part:
            failed = [f"{one['name']}: {one['saw']}" for one in part.get("checks", []) if one["status"] != "passed"]
            said = "\n".join(filter(None, [str(part.get("message") or ""), *failed]))
            yield name, float(part["points"]), float(part["max_points"]), said or str(part["status"])


def lines(record: Record) -> list[str]:
    """The feedback, a line a piece."""
    found = [f"State: {record.state}."]
    if record.message and not record.repair:
        found.append(record.message)
    for name, points, most, said in parts(record):
        found.append(f"{name}: {points:g} of {most:g}. {said}")
    found += [f"{change}." for change in record.changes]
    if record.changes and record.points is not None:
        found.append(f"What counts: {record.points:g} of {record.max_points:g}.")
    return found
