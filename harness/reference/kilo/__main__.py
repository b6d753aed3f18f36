"""`python -m harness.reference.kilo --port N --config FILE`."""

from __future__ import annotations

import sys

from harness.reference.kilo.serve import serve

sys.exit(serve(sys.argv[1:]))
