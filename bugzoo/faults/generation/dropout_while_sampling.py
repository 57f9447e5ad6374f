"""What the model writes is worse than its loss, and asked for the likeliest character it answers now this, now that."""

from bugzoo.faults.model import Fault, LookAlike, Swap

FAULT = Fault(
    title="Texts are written in training mode",
    level=2,
    symptom="noisy_eval",
    edits=Swap("texts = $WRITTEN", "model.train()\ntexts = $WRITTEN"),
    evidence=("mode_watch.eval_in_train_mode > 0.5",),
    effect="mode_watch.eval_in_train_mode > healthy",
    why=(
        "In training mode a tenth of the numbers behind the embedding is dropped at each character, others each time, and the "
        "cache keeps what was made of them. Samples are drawn at random anyway, which hides it."
    ),
    fix="model.eval() before anything is written, and model.train() before training goes on.",
    repairs={
        "eval() before writing": Swap("texts = $WRITTEN", "model.eval()\ntexts = $WRITTEN"),
        "eval() for the one who writes": Swap("text = inputs", "model.eval()\ntext = inputs"),
        "train(False)": Swap("texts = $WRITTEN", "model.train(False)\ntexts = $WRITTEN"),
    },
    pretences={
        "eval() afterwards": Swap("written = $LOSS", "model.eval()\nwritten = $LOSS"),
        "only its head": Swap("texts = $WRITTEN", "model.head.eval()\ntexts = $WRITTEN"),
        "the likeliest": Swap(
            "inputs = torch.multinomial(logits.softmax(-1), 1)", "inputs = logits.argmax(-1, keepdim=True)"
        ),
    },
    hints=(
        "Which of the two draws at random: the choice of the next character, or the model itself?",
        "Take the likeliest character each time and write the same text twice.",
        "Read what is called on the model between its evaluation and the text that it writes.",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Evaluate the loss twice, without any training in between.",
            "It is the same both times.",
            "It differs.",
        ),
        LookAlike(
            "generation/positions_restart",
            "Give it the same text bit by bit, twice, and take the likeliest token each time.",
            "It differs.",
            "Both times the same.",
        ),
        LookAlike(
            "generation/cache_off_by_one",
            "Set the model to eval mode and compare what it says to a text at once and bit by bit.",
            "It says the same.",
            "It differs.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.Dropout.html",),
)
