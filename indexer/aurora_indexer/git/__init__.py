"""Git: HEAD, logs, and the history of every function (AURORA §9.2)."""
