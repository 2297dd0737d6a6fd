"""Headless mode: a goal pursued without a human, by runs on a branch of its own, with a budget (AURORA §9.8)."""
