"""Conversation logs (past chats, transcripts) that may tell more where memory answers weakly, with low confidence:
references to read, never whole logs (§6.8.2.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from aurora_memory.conversation_logs import LogReference
from aurora_memory.recall.question import Question
from aurora_memory.recall.ranking import Hit
from aurora_memory.store import conversation_log_index
from aurora_memory.store.reader import Reader

COVERED = 0.5
"""The share of a question's terms that a good answer has. A hit's score can't tell: it is about terms memory knows, and
where most of a question is unknown, sharing one word with it scores well."""


def weak(question: Question, hits: Sequence[Hit]) -> bool:
    """Whether recall found nothing, or nothing good: no hit has half of the question's telling terms."""
    return all(len(hit.matched) < COVERED * len(question.terms) for hit in hits)


def recall_logs(reader: Reader, question: Question, hits: Sequence[Hit], limit: int = 5) -> list[LogReference]:
    """The log sections that tell most of what was asked, best first; nothing where `hits` are not weak."""
    return conversation_log_index.find(reader, question.terms, limit) if weak(question, hits) else []
