"""turnproof: a conformance harness that proves, end to end, that an agent's turn really ran."""
