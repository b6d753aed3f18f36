"""`python -m harness.evidence FOLDER`: writes the evidence in a folder anew, from its bundle or its results file.

What ran is taken from the bundle where there is one, so that the same records always give the same bytes. A results
file alone does not say what ran; it gets a provenance that names nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness.evidence.bundle import read_bundle
from harness.evidence.live import BUNDLE, Files, evidence, write
from harness.evidence.provenance import Provenance
from harness.evidence.statement import OWN
from harness.results import RESULTS

NOTHING = Provenance("0.0.0", "0" * 64, None, "3.11.0", "Linux x86_64")
"""The provenance of a sample."""


def again(bundle: str) -> Files:
    """The evidence that a bundle holds, made anew; raises Refused when the bundle is not whole."""
    provenance = read_bundle(bundle).provenance
    return evidence(json.loads(bundle)["predicate"][OWN]["records"], provenance)


def main(folder: Path) -> None:
    """Write the evidence in `folder` anew."""
    bundle, results = folder / BUNDLE, folder / RESULTS
    if bundle.exists():
        write(again(bundle.read_text(encoding="utf-8")), folder)
        return
    lines = results.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    write(evidence([json.loads(line) for line in lines], NOTHING), folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
