"""`python -m harness.reference.endpoint --port N --config FILE`."""

from __future__ import annotations

import sys

from harness.reference.endpoint.serve import serve

sys.exit(serve(sys.argv[1:]))
