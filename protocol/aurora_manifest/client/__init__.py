"""Client of sites that publish a manifest: fetch it, call what it declares, read what the site says back (AURA-P)."""
