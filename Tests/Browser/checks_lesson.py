"""The lesson of ten (lesson_of_ten.py), as short as it is whole. Faults that it sees: `ofLesson` in Tests/Page/sabotage.mjs."""

from lesson_of_ten import Lesson
from stage import check


@check("a lesson of ten: a host, a pen with palms, a phone, one who watches, one by the join code, one without a link; nothing is lost")
def lesson(stage):
    Lesson(stage, seed=19, rounds=1, say=lambda text: None).hold()
