"""A curve that looks like the beginning of a good one."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="It will come",
    story=(
        "A program reads reviews and says whether their writers liked the film. It was right about 78 % of them, and now it is "
        "right about 58 %. *“Look at the old curve: it, too, hardly moved for a third of the way, and then it went down. Ours is "
        "where that one was at that time. There are such plateaus, one has to sit them out. I have asked for a longer run.”*"
    ),
    program="sentiment_lstm",
    fault="recurrent/padding_read_as_text",
)
