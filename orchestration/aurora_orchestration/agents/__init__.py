"""Agents that work on subgoals: where they are found, and how each kind is run (AURORA §7.2)."""
