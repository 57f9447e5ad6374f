"""Repairs, pretences and look-alikes of every fault: they hold on every program that it fits, and name what there is."""

import pytest

from bugzoo import diagnostics, faults
from bugzoo.choices import causes, choices
from bugzoo.diagnostics import causes as table
from bugzoo.faults.evidence import parse
from bugzoo.grading.repairs import pretences, repairs
from bugzoo.grading.texts import same_program, tidy
from bugzoo.grading.trials import generic
from bugzoo.grading.trials.wrong_fixes import PRETENCES
from bugzoo.scenario import Scenario, fits
from tests.diagnostics.test_causes import ALL
from tests.waiting import WAITING

CATALOGUE = faults.catalogue()
OURS = [fault_id for fault_id in CATALOGUE if ":" not in fault_id]


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("fault_id", OURS)
def test_on_every_program_three_texts_are_right_and_two_look_it(fault_id: str) -> None:
    fault, used = CATALOGUE[fault_id], set()
    for program in fits(fault):
        case = Scenario(program, (fault_id,))
        [(_, params)] = case.specs
        broken, right = tidy(case.source), [tidy(case.healthy().source)]
        mended, looks = repairs(broken, fault, params), pretences(broken, fault, params)
        used |= {*mended, *looks}
        if f"{fault_id} on {program}" in WAITING:  # nobody is shown what is not proved
            continue
        for name, text in (mended | looks | generic(broken, fault, params)).items():
            compile(text, program, "exec")
            assert not same_program(text, broken), f"{name} changes nothing on {program}"
        right += [text for text in mended.values() if not same_program(text, right[0])]
        different = [
            text for i, text in enumerate(right) if not any(same_program(text, repair) for repair in right[:i])
        ]
        assert len(different) >= 3, f"on {program} there are {len(different)} right texts: {list(mended)}"
        assert len(looks) >= 2, f"on {program} there are {len(looks)} pretences of its own"
        assert not any(same_program(text, repair) for text in looks.values() for repair in right), program
    assert used == {*fault.repairs, *fault.pretences}, "what fits no program is a slip"


def test_what_everybody_tries_fits_every_program() -> None:
    for program in ("mlp", "amp_transformer", "sentiment_lstm", "data_parallel"):
        source = tidy(Scenario(program).source)
        texts = generic(source, CATALOGUE["modes/eval_mode_missing"], {})
        assert len(texts) >= len(PRETENCES) - 1, (program, PRETENCES.keys() - texts.keys())


@pytest.mark.parametrize("fault_id", OURS)
def test_look_alikes_name_faults_and_say_what_is_seen(fault_id: str) -> None:
    fault = CATALOGUE[fault_id]
    assert fault.look_alikes, "nothing looks like it? Then nothing could be asked about it"
    assert len({look.test for look in fault.look_alikes}) == len(fault.look_alikes)
    for look in fault.look_alikes:
        assert look.other in CATALOGUE or look.other in ALL, f"{look.other} is neither there nor planned"
        assert look.other != fault_id
        for text in (look.test, look.here, look.there):
            assert text.endswith((".", "?")), text
        assert 55 <= len(look.test) <= 100, f"choices are about as long as each other: {look.test}"
        for claim in (claim for side in look.claims for claim in side):
            assert parse(claim).instrument in {*diagnostics.names(), "outcome"}, claim
        # a number tells on both sides or on none, and only of what can be run
        assert bool(look.claims[0]) == bool(look.claims[1])
        assert look.other in CATALOGUE or not look.claims[0], f"{look.other} cannot be run yet"


def test_which_look_alikes_are_not_there_yet() -> None:
    """Planned ones: whoever adds one of them gives its look-alikes a number that tells."""
    planned = {look.other for fault in CATALOGUE.values() for look in fault.look_alikes} - set(CATALOGUE)
    assert planned <= set(ALL)


@pytest.mark.parametrize("fault_id", OURS)
def test_no_test_names_a_fault(fault_id: str) -> None:
    names = {fault_id.rsplit("/", 1)[1].replace("_", " ") for fault_id in [*ALL, *CATALOGUE]}
    for look in CATALOGUE[fault_id].look_alikes:
        assert not [name for name in names if name in look.test.lower()], look.test


def test_choices_are_drawn_from_the_look_alikes_alike_for_one_key() -> None:
    fault = CATALOGUE["loop/stale_gradients"]
    first, again, other = (choices(fault, key) for key in ("B-1", "B-1", "B-2"))
    assert first == again and first != other and len(first.texts) == 4
    assert first.texts["ABCD".index(first.letter)] == fault.look_alikes[0].test
    tests = {look.test for look in fault.look_alikes}
    telling = {look.test for f in CATALOGUE.values() for look in f.look_alikes if look.other == fault.id}
    for key in map(str, range(40)):
        assert len((tests | telling) & set(choices(fault, key).texts)) == 1, "a wrong choice must not be right as well"


@pytest.mark.parametrize("fault_id", OURS)
def test_no_wrong_cause_is_true_as_well(fault_id: str) -> None:
    fault = CATALOGUE[fault_id]
    params = {name: param.default for name, param in fault.params.items()}
    words = [table.cause(look.other).word for look in fault.look_alikes]
    for key in map(str, range(10)):
        options = causes(fault, params, key)
        true = set(table.right(fault_id, params))
        assert len(set(options.texts)) == 4 and len(true & set(options.texts)) == 1
        assert options.texts["ABCD".index(options.letter)] in true
        assert {word for word in words[:3] if word not in (*true, table.OTHER)} <= set(options.texts)


@pytest.mark.parametrize("fault_id", ["freezing/frozen_layers", "optimizer/lr_too_low", "loss/double_softmax"])
def test_no_wrong_test_is_about_what_the_right_one_tells_it_from(fault_id: str) -> None:
    """It would be nearly right: the form of an exercise once offered two ways to see which weights have moved."""
    fault = CATALOGUE[fault_id]
    other = fault.look_alikes[0].other
    near = {look.test for name, f in CATALOGUE.items() for look in f.look_alikes if other in (name, look.other)}
    for key in map(str, range(20)):
        assert not (near - {fault.look_alikes[0].test}) & set(choices(fault, key).texts)
