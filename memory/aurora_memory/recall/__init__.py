"""Recall: from a question to the chunks most useful now. Reads only: nothing here changes what memory knows (§9.9)."""

from aurora_memory.recall.question import Question, understand
from aurora_memory.recall.ranking import Hit
from aurora_memory.recall.recall import Focus, recall, weigh

__all__ = ["Focus", "Hit", "Question", "recall", "understand", "weigh"]
