"""What holds for every test here: it leaves no thread and no process behind."""

from tests.leaks import nothing_left_behind

__all__ = ["nothing_left_behind"]
