"""Stop words: of everyday English and of every code base, of questions to memory, and words that only ask for work."""

from __future__ import annotations

from collections.abc import Collection, Iterable

_EVERYDAY = (
    "about above after again all also although always among and another any anything are around because been"
    " before being below between both but calls came can cannot case change come could default did does doing done"
    " down during each either else ensure etc even ever every example false first following for from further gets"
    " give given gives goes got had has have having here how however into its itself just kind know last less let"
    " like made make makes many may maybe might more most much must need needed needs neither never new nor not"
    " note nothing now off often once one ones only onto other others otherwise our out over own param params"
    " parameter parameters per perhaps please possible rather really return returned returning returns same see"
    " several should simply since some something still such sure take taken takes than that the their them then"
    " there these they thing things this those though through thus todo too true two under unless until upon use"
    " used uses using usually various very via want was way well were what when where whether which while who"
    " whole whose why will with within without would yet you your args arg argument arguments value values raises"
    " raise example examples optional func function method functions methods called call instance object objects"
    " self none null string int bool float def two get set is it in of to an as at be by do if no on or so up us"
    " we he me my am"
)

STOP_WORDS = frozenset(_EVERYDAY.split())
"""Stop words of everyday English, and of every code base: they tell nothing about a chunk."""

QUESTION_WORDS = frozenset(
    """
    a about all an and any are as at be by can code could did do does done each every find for from function functions
    get gets give has have how i if in into is it its like look me method methods my of on or our place places please
    show should so some tell that the their them there these this those to us use used uses using was we were what when
    where which who why will with would you your
    """.split()
)
"""Stop words of a question to memory: those that ask, rather than say for what."""

ERRANDS = frozenset(
    """
    add added adding adds allow allows bug bugs change changed changes chore cleanup docs ensure ensures feat feature
    fix fixed fixes fixing fixup handle handles improve improved improves issue issues make makes minor perf refactor
    refactored refactoring remove removed removes rename renamed revert support supports tidy tweak typo typos update
    updated updates wip
    """.split()
)
"""Stop words of a task: what is wanted done, rather than what it is about."""


def without_stop_words(words: Iterable[str], stop_words: Collection[str] = STOP_WORDS) -> list[str]:
    """Words that are no stop words, as written; case makes no difference."""
    return [word for word in words if word.lower() not in stop_words]
