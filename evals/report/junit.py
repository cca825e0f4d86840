"""The results as JUnit XML, which build servers show."""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evals.judging import Verdict
from evals.suite import SuiteRun

_TAGS = {Verdict.FAIL: "failure", Verdict.INCONCLUSIVE: "error"}


def junit(run: SuiteRun) -> str:
    """One test case for each case: a failure where it fails, an error where it is inconclusive."""
    judged = [result.judged for result in run.results]
    suite = Element(
        "testsuite",
        name=f"evals with {run.plan.model}",
        tests=str(len(judged) + len(run.waiting)),
        failures=str(sum(one.verdict is Verdict.FAIL for one in judged)),
        errors=str(sum(one.verdict is Verdict.INCONCLUSIVE for one in judged)),
        skipped=str(len(run.waiting)),
        time=f"{sum(one.ms for one in judged) / 1000:.3f}",
    )
    for one in judged:
        case = SubElement(suite, "testcase", classname=one.slice.value, name=one.case, time=f"{one.ms / 1000:.3f}")
        if one.verdict in _TAGS:
            SubElement(case, _TAGS[one.verdict], message=one.why)
    for each in run.waiting:
        name, _, needs = each.partition(": ")
        SubElement(SubElement(suite, "testcase", classname="waiting", name=name), "skipped", message=f"needs {needs}")
    indent(suite)
    return tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
