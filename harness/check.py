"""What a check can say. A check that returns has passed; anything else it says by raising one of these."""

from __future__ import annotations

from harness.exchange import Exchange
from harness.results import Finding
from harness.telling import beginning


class Nonconformance(Exception):
    """The target breaks the requirement."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"expected {finding.expected}; came {finding.came}")
        self.finding = finding


class Inconclusive(Exception):
    """The check could not be made: something it stands on did not hold."""


class NotMeasured(Exception):
    """The target cannot be asked this, by its own description."""


class NotApplicable(Exception):
    """The requirement does not bind this target, by its own description."""


def expect(holds: bool, expected: str, came: object, mend: str, exchange: Exchange | None = None) -> None:
    """Raise Nonconformance unless `holds`.

    `expected` and `came` complete the sentences "expected ..." and "came ..."; `mend` says in one sentence what to
    do about it; `exchange` is the one that shows it.
    """
    if not holds:
        shown = came if isinstance(came, str) else repr(came)
        raise Nonconformance(Finding(expected, beginning(shown, 2000), mend, exchange.number if exchange else None))
