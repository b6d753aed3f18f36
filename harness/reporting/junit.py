"""JUnit XML, as GitLab, Jenkins and GitHub's reporters read it.

One `testsuite` for each requirement group, one `testcase` for each of `harness.reporting.cases`, in the group of the
first requirement that its check claims; `classname` is `<suite>.<group>`. Requirement ids, levels, the verdict and a
failure's signature are properties of the case. Red and not red follow the exit code, as told there.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from harness.reporting.cases import Case, cases
from harness.reporting.visible import one_line
from harness.verdict import Summary


def junit(summary: Summary) -> str:
    """The whole document."""
    root = ET.Element("testsuites", name=one_line(f"turnproof {summary.results.header.suite}"))
    groups: dict[str, list[Case]] = {}
    for case in cases(summary):
        groups.setdefault(case.group, []).append(case)
    for group, of in groups.items():
        suite = _suite(root, group, summary)
        for case in of:
            _case(suite, case)
        _count(suite)
    _count(root)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, group: str, summary: Summary) -> ET.Element:
    header = summary.results.header
    return ET.SubElement(
        root,
        "testsuite",
        name=one_line(f"{header.suite}.{group}"),
        timestamp=one_line(header.started),
        hostname=one_line(header.target.name),
    )


def _case(suite: ET.Element, case: Case) -> None:
    time = f"{case.duration:.3f}"
    element = ET.SubElement(suite, "testcase", classname=suite.attrib["name"], name=case.name, time=time)
    properties = ET.SubElement(element, "properties")
    for key, value in (
        ("check", case.check),
        ("requirements", ", ".join(case.requirements)),
        ("levels", case.levels),
        ("verdict", case.verdict),
        ("signature", case.signature),
    ):
        if value:
            ET.SubElement(properties, "property", name=key, value=value)
    if case.kind == "passed":
        return
    outcome = ET.SubElement(element, case.kind, type=case.verdict, message=case.message)
    if case.kind == "skipped" and case.details:  # readers show no text of what is skipped
        outcome.text = case.message
        ET.SubElement(element, "system-out").text = case.details
    else:
        outcome.text = case.details or case.message


def _count(element: ET.Element) -> None:
    found = list(element.iter("testcase"))
    element.set("tests", str(len(found)))
    skipped = (("skipped", "skipped"),) if element.tag == "testsuite" else ()  # the root has no such attribute
    for attribute, tag in (("failures", "failure"), ("errors", "error"), *skipped):
        element.set(attribute, str(sum(case.find(tag) is not None for case in found)))
    element.set("time", f"{sum(float(case.attrib['time']) for case in found):.3f}")
