"""Language models: who is asked, what it costs, and what was answered. Nothing here knows of phases or memory."""

USUAL_MODELS = {"anthropic": "claude-sonnet-4-5", "openai": "gpt-4-turbo", "editor": "editor"}
"""The model of a provider that is named without one (App. C's, as the providers spell them). Here, because what starts
with every command reads it: this module imports nothing."""
