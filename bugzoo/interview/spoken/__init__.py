"""Spoken cases: eight questions that interviewers ask, each with a real run behind it.

The interviewer tells a symptom; the candidate says what he would look at, in his own words, and gets the numbers of the run; then
he names the cause. There is no script to read and no menu. `cases` holds the questions, `talk` the conversation, `sheet` what the
interviewer has in front of him.
"""

from bugzoo.interview.spoken.cases import CASES, Spoken, load

__all__ = ["CASES", "Spoken", "load"]
