"""JUnit XML, as GitLab, Jenkins and GitHub's reporters read it.

One `testsuite` for each requirement group, one `testcase` for each check, in the group of the first requirement it
claims; `classname` is `<suite>.<group>`, `name` the check's title, with its id when another check has the same title.

JUnit knows no levels, and its readers turn red at any `failure`. So that they cannot disagree with the exit code, a
`failure` is what counts against conformance in this run; a failing check that does not (of a SHOULD, of a MAY) is
`skipped` with a message that begins `fail, but does not decide`. A check that was planned and did not run is an
`error`, and so is, in a suite called `run`, a run that cannot be judged (exit codes 3, 4, 6 and 130). A waived failure
is `skipped`; a waiver that names something unknown or no longer failing (exit code 5) is a `failure` in a suite called
`waivers`.
"""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree as ET

from harness.reporting.findings import account, by_waivers, ids, levels, reason
from harness.reporting.headline import headline
from harness.reporting.transcript import transcript
from harness.reporting.visible import one_line, shortened
from harness.verdict import CONFORMS, DOES_NOT_CONFORM, STALE_WAIVER, Checked, Summary
from harness.waiver import STALE, explained

_MESSAGE_CHARACTERS = 300


def junit(summary: Summary) -> str:
    """The whole document."""
    header = summary.results.header
    root = ET.Element("testsuites", name=one_line(f"turnproof {header.suite}"))
    groups: dict[str, list[Checked]] = {}
    for checked in summary.checks:
        groups.setdefault(_group(checked), []).append(checked)
    titles = Counter(checked.title for checked in summary.checks)
    for group, checks in groups.items():
        suite = _suite(root, f"{header.suite}.{group}", summary)
        for checked in checks:
            _case(suite, checked, summary, unique=titles[checked.title] == 1)
        _count(suite)
    _unchecked(root, summary)
    _stale(root, summary)
    if summary.exit_code not in (CONFORMS, DOES_NOT_CONFORM, STALE_WAIVER):
        _unjudged(root, summary)
    _count(root)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _group(checked: Checked) -> str:
    return checked.requirements[0].group if checked.requirements else "none"


def _suite(root: ET.Element, name: str, summary: Summary) -> ET.Element:
    header = summary.results.header
    return ET.SubElement(
        root,
        "testsuite",
        name=one_line(name),
        timestamp=one_line(header.started),
        hostname=one_line(header.target.name),
    )


def _case(suite: ET.Element, checked: Checked, summary: Summary, unique: bool) -> None:
    name = checked.title if unique else f"{checked.title} [{checked.check}]"
    duration = checked.result.duration if checked.result else 0.0
    case = ET.SubElement(suite, "testcase", classname=suite.attrib["name"], name=one_line(name), time=f"{duration:.3f}")
    properties = ET.SubElement(case, "properties")
    for key, value in (
        ("check", checked.check),
        ("requirements", ids(checked)),
        ("levels", levels(checked)),
        ("verdict", checked.status),
        *([("signature", checked.result.signature)] if checked.result and checked.result.signature else []),
    ):
        ET.SubElement(properties, "property", name=key, value=one_line(value))
    _outcome(case, checked, summary)


def _outcome(case: ET.Element, checked: Checked, summary: Summary) -> None:
    status = checked.status
    if status == "pass":
        return
    if status == "error":
        _add(case, "error", status, reason(checked), _details(checked, summary))
    elif status == "not-run":
        _add(case, "error", status, "the run ended before this check", "")
    elif status in ("fail", "inconclusive"):
        _failure(case, checked, summary)
    elif status == "waived":
        _add(case, "skipped", status, f"waived {by_waivers(checked)}", "")
        ET.SubElement(case, "system-out").text = _details(checked, summary)
    elif summary.check_decides(checked):
        _add(case, "failure", status, f"not measured, and the run requires all: {reason(checked)}", "")
    else:
        _add(case, "skipped", status, f"{status}: {reason(checked)}", "")


def _failure(case: ET.Element, checked: Checked, summary: Summary) -> None:
    lines = dict(account(checked, summary).lines)
    message = lines.get("came") or lines.get("reason", "")
    if summary.check_decides(checked):
        _add(case, "failure", checked.status, f"{ids(checked)}: {message}", _details(checked, summary))
        return
    _add(case, "skipped", checked.status, f"{checked.status}, but does not decide ({levels(checked)}): {message}", "")
    ET.SubElement(case, "system-out").text = _details(checked, summary)


def _details(checked: Checked, summary: Summary) -> str:
    told = account(checked, summary)
    lines = [f"{name + ':':<10}{text}" for name, text in told.lines]
    return "\n".join([*lines, *(["", transcript(told.exchange)] if told.exchange else [])])


def _unchecked(root: ET.Element, summary: Summary) -> None:
    rows = [row for row in summary.rows if row.verdict == "not-run" and not row.checks]
    if not rows:
        return
    suite = _suite(root, f"{summary.results.header.suite}.unchecked", summary)
    for row in rows:
        name = f"{row.requirement.id} {row.requirement.statement}"
        case = ET.SubElement(suite, "testcase", classname=suite.attrib["name"], name=one_line(name), time="0.000")
        kind = "failure" if summary.row_decides(row) else "skipped"
        _add(case, kind, row.verdict, "no check of this requirement was planned in this run", "")
    _count(suite)


def _stale(root: ET.Element, summary: Summary) -> None:
    stale = [(waiver, stands) for waiver, stands in summary.waivers if stands in STALE]
    if not stale:
        return
    suite = _suite(root, f"{summary.results.header.suite}.waivers", summary)
    for waiver, stands in stale:
        name = f"the waiver of {waiver.what}, signature {waiver.signature}, is needed"
        case = ET.SubElement(suite, "testcase", classname=suite.attrib["name"], name=one_line(name), time="0.000")
        _add(case, "failure", stands, explained(waiver, stands), "")
    _count(suite)


def _unjudged(root: ET.Element, summary: Summary) -> None:
    suite = _suite(root, f"{summary.results.header.suite}.run", summary)
    case = ET.SubElement(suite, "testcase", classname=suite.attrib["name"], name="the run can be judged", time="0.000")
    footer = summary.results.footer
    _add(case, "error", footer.outcome if footer else "unfinished", headline(summary), "")
    _count(suite)


def _add(case: ET.Element, tag: str, kind: str, message: str, text: str) -> None:
    short = shortened(one_line(message), _MESSAGE_CHARACTERS)
    element = ET.SubElement(case, tag, type=kind, message=short)
    element.text = text or short


def _count(element: ET.Element) -> None:
    cases = list(element.iter("testcase"))
    element.set("tests", str(len(cases)))
    skipped = (("skipped", "skipped"),) if element.tag == "testsuite" else ()  # the root has no such attribute
    for attribute, tag in (("failures", "failure"), ("errors", "error"), *skipped):
        element.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    element.set("time", f"{sum(float(case.attrib['time']) for case in cases):.3f}")
