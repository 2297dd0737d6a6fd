"""The shapes in which tools keep their agents: one file per shape, each turning text into agents and notices."""
