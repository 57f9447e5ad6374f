"""A demand of a loss is seen in whatever form the loss is written."""

import pytest

from bugzoo.contracts import contracts
from tests.contracts.forms import FORMS, has_loss, in_form
from tests.contracts.listening import ran

CASES = [
    pytest.param(one, form, id=f"{one.name}-{form}")
    for one in contracts().values()
    if has_loss(one.breaks) and has_loss(one.keeps)
    for form in FORMS
]


def test_a_call_is_rewritten_and_what_is_no_loss_stays():
    text = "F.kl_div(a, b, reduction='sum')\nF.relu(x)"
    assert [in_form(text, form).splitlines()[0] for form in FORMS] == [
        "F.kl_div(a, b, reduction='sum')",
        "F.kl_div(input=a, target=b, reduction='sum')",
        "nn.KLDivLoss(reduction='sum')(a, b)",
        "type('Mine', (nn.KLDivLoss,), {})(reduction='sum')(a, b)",
    ]
    assert in_form("nn.CTCLoss(2)(a, b, c, d)", "keywords").startswith(
        "F.ctc_loss(log_probs=a, targets=b, input_lengths=c"
    )
    assert in_form(text, "module").endswith("F.relu(x)") and len(CASES) > 40


@pytest.mark.parametrize(("one", "form"), CASES)
def test_each_form_is_broken_and_kept(one, form):
    broken, _ = ran(in_form(one.breaks, form))
    assert one.id in {finding.contract for finding in broken}
    findings, _ = ran(in_form(one.keeps, form))
    assert one.id not in {finding.contract for finding in findings}
