"""`python -m harness.fakes.opencode serve --port N --hostname H`: the stand-in as its own process."""

from __future__ import annotations

import sys

from harness.fakes.opencode.serve import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
