"""Demo site that publishes a manifest, to try clients on: log in, posts, a profile (AURA-P "Security model")."""
