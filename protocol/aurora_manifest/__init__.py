"""AURA manifests (`aura.json`): read with exact ranges, checked with findings a person can act on (AURA-P)."""
