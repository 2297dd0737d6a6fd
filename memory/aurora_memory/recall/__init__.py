"""Recall: from a question to the chunks most useful now. Reads only: nothing here changes what memory knows (§9.9)."""

from aurora_memory.recall.question import Question, parse_question
from aurora_memory.recall.ranking import Hit
from aurora_memory.recall.recall import recall, weigh, with_uses_of_others
from aurora_memory.recall.search import Focus

__all__ = ["Focus", "Hit", "Question", "parse_question", "recall", "weigh", "with_uses_of_others"]
