"""Language models: who is asked, what it costs, and what was answered. Nothing here knows of phases or memory."""
