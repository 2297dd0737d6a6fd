"""`python -m aurora_server` is `aurora`."""

from __future__ import annotations

import sys

from aurora_server.cli import main

if __name__ == "__main__":
    sys.exit(main())
