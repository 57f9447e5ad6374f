"""What the verbs do to a place: wherever it stands in its line, with the bytes around it kept."""

import pytest

from bugzoo.errors import UserError
from bugzoo.faults.idioms import (
    BACKWARD,
    CLIP,
    COUNTER,
    EVAL_MODE,
    ITEM_APPEND,
    LOSS,
    NO_GRAD,
    RANKS,
    STEP,
    UNSCALE,
    ZERO_GRAD,
)  # fmt: skip
from bugzoo.faults.verbs import after, before, either, nothing, remove, rewrite
from bugzoo.injection import change

LOOP = """\
for x in data:
    opt.zero_grad(); loss.backward()
    if late: opt.step(); note()  # keep
    else: pause()
"""
SCRIPT = """\
criterion = nn.CrossEntropyLoss()
for x, y in data:
\tloss = criterion(head(x) + bias,
\t                 y)  # keep
\tloss.backward()
\tclip_grad_norm_(net.parameters(), 1.0)
\topt.step()
"""


def made(source, *edits, **more):
    injection = change(source, edits, **more)
    assert injection.undo(injection.broken) == source
    return injection.broken


LINES = [
    (before(ZERO_GRAD, "if a:\n    b()"), "    opt.zero", "    if a:\n        b()\n    opt.zero"),
    (before(BACKWARD, "a()\nb()"), "(); loss.backward()", "()\n    a()\n    b()\n    loss.backward()"),
    (after(ZERO_GRAD, "a()"), "(); loss.backward()", "()\n    a()\n    loss.backward()"),
    (after(BACKWARD, "a()"), "loss.backward()", "loss.backward()\n    a()"),
    (before(STEP, "a()"), "late: opt.step()", "late:\n        a()\n        opt.step()"),
    (after(STEP, "a()"), "late: opt.step(); note()", "late:\n        opt.step()\n        a()\n        note()"),
    (remove(STEP), "opt.step();", "pass;"),
    (rewrite(STEP, PLACE="$OPTIMIZER.step(close)"), "opt.step()", "opt.step(close)"),
]


@pytest.mark.parametrize(("edit", "old", "new"), LINES, ids=[f"{edit}"[:40] for edit, _, _ in LINES])
def test_lines_that_share_and_blocks_of_one_line(edit, old, new):
    assert LOOP.count(old) == 1
    broken = made(LOOP, edit)
    assert broken == LOOP.replace(old, new)
    compile(broken, "loop", "exec")


def test_a_metavariable_alone_is_written_anew_and_parentheses_come_where_they_are_needed():
    assert made(SCRIPT, rewrite(LOSS, LOGITS="($LOGITS).exp()")) == SCRIPT.replace(
        "head(x) + bias", "(head(x) + bias).exp()"
    )
    assert made(SCRIPT, rewrite(LOSS, TARGETS="($TARGETS).flip(0)")) == SCRIPT.replace(" y)", " y.flip(0))")


def test_the_first_text_whose_metavariables_are_there():
    edit = rewrite(LOSS, LOGITS=("$F.softmax($LOGITS, -1)", "($LOGITS).softmax(-1)"))
    assert "(head(x) + bias).softmax(-1)," in made(SCRIPT, edit)
    assert made("loss = nn.functional.cross_entropy(input=a, target=b)\n", edit) == (
        "loss = nn.functional.cross_entropy(input=nn.functional.softmax(a, -1), target=b)\n"
    )


def test_places_of_one_fault_lend_each_other_their_names_and_texts():
    broken = made(
        SCRIPT,
        remove(CLIP),
        before(BACKWARD, "$CLIP_STATEMENT\n$OPTIMIZER.note()"),
        rewrite(STEP, PLACE="$OPTIMIZER.step(1)"),
    )
    line = "\tclip_grad_norm_(net.parameters(), 1.0)\n"
    expected = SCRIPT.replace(line, "").replace("\tloss.back", line + "\topt.note()\n\tloss.back")
    assert broken == expected.replace("step()", "step(1)")


def test_given_asks_for_another_place_and_lends_its_names():
    edit = before(STEP, "if $COUNT > 5 and $DIST.get_rank(): continue", given=(RANKS, COUNTER))
    with pytest.raises(UserError, match=r"Looked for: torch\.distributed"):
        made(SCRIPT, edit)
    script = "td.init_process_group()\n" + SCRIPT + "\tglobal_step += 1\n"
    assert "\tif global_step > 5 and td.get_rank(): continue\n\topt.step()\n" in made(script, edit)


def test_an_alternative_that_changes_nothing_counts_only_where_the_place_is_not_there():
    edits = either(remove(UNSCALE), nothing)
    assert made(SCRIPT, edits) == SCRIPT
    unscaled = SCRIPT.replace("\tclip", "\tscaler.unscale_(opt)\n\tclip")
    assert made(unscaled, edits) == SCRIPT
    with pytest.raises(UserError, match="fits 2 places"):
        made(unscaled + "\tscaler.unscale_(opt)\n", edits)


QUIET = """\
net = net.eval()
with torch.no_grad(), other():
    run()
with torch.no_grad():
    for x in d:
        text = '''two
        lines'''
        net(x)
@torch.no_grad()
def look(): pass
"""


@pytest.mark.parametrize(
    ("edit", "at", "old", "new"),
    [
        (remove(EVAL_MODE), None, "net = net.eval()\n", ""),
        (remove(NO_GRAD), 2, "torch.no_grad(), ", ""),
        (remove(NO_GRAD), 9, "@torch.no_grad()\n", ""),
        (
            remove(NO_GRAD), 4, QUIET[QUIET.index("with torch.no_grad():") : QUIET.index("@")],
            "for x in d:\n    text = '''two\n        lines'''\n    net(x)\n",
        ),
    ],
)  # fmt: skip
def test_what_is_left_when_a_mode_or_a_with_goes(edit, at, old, new):
    broken = made(QUIET, edit, at=at)
    assert broken == QUIET.replace(old, new, 1)
    compile(broken, "quiet", "exec")


def test_eval_in_a_chain_leaves_the_rest():
    assert made("net = net.eval().to(d)\n", remove(EVAL_MODE)) == "net = net.to(d)\n"


def test_a_number_of_the_loss_in_a_sum():
    script = "for x in d:\n    loss.backward()\n    total += loss.detach().item() * len(x)\n"
    assert made(script, rewrite(ITEM_APPEND, NUMBER="$LOSS")) == script.replace(".detach().item()", "")


def test_a_metavariable_that_the_idiom_does_not_have_is_told_at_once():
    with pytest.raises(ValueError, match="LOSS has no metavariable LOGIT; it has CRITERION, F, LOGITS"):
        rewrite(LOSS, LOGIT="x")


def test_what_a_repair_breaks_is_told():
    with pytest.raises(UserError, match="this program after the edit is not valid Python"):
        change(SCRIPT, (rewrite(LOSS, LOGITS="($LOGITS"),))
