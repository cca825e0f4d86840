"""The results as one HTML page: no script, nothing fetched. A plot of the measures, and one of what parts bring."""

from collections.abc import Iterator, Sequence
from html import escape

from evals.compare import Comparison, Difference
from evals.report.table import HONEST, SAID, SHORT, by_rule
from evals.scores import Measure
from evals.suite import SuiteRun
from evals.summary import Summary

_WIDTH, _BAR, _LABEL = 640, 22, 150
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color: #1b1b1b; background: #fff }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 }
td, th { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
.fail { color: #a40000 } .inconclusive { color: #8a6d00 } .pass { color: #1a6b1a }
.quiet { color: #666 } svg { max-width: 100% }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #16181c } td, th { border-color: #333 } .quiet { color: #999 }
  .fail { color: #ff8a80 } .inconclusive { color: #e6c34a } .pass { color: #81c995 } svg text { fill: #ddd } }
"""


def page(run: SuiteRun, summary: Summary, comparisons: Sequence[tuple[str, Comparison]]) -> str:
    """The page of a run; each comparison has a title."""
    plan = run.plan
    title = f"Evals with {plan.model}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="quiet">{escape(HONEST.get(plan.model, ""))}</p>',
        f"<p>{summary.total.passed} of {summary.total.cases} cases pass. {escape(summary.shortfall)}</p>",
        bars(summary),
        _slices(summary),
    ]
    if summary.rules:
        body += ["<h2>Verdicts by rule</h2>", _rules(summary)]
    for name, comparison in comparisons:
        body += [f"<h2>{escape(name)}</h2>", forest(comparison.differences), _changes(comparison)]
    body += ["<h2>Cases</h2>", _cases(run)]
    if run.waiting:
        body += ["<h2>Waiting for what is not built</h2>", f"<p>{escape('; '.join(run.waiting))}</p>"]
    body.append(f'<p class="quiet">engine {run.engine}, seed {plan.seed}</p>')
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def bars(summary: Summary) -> str:
    """The mean of each measure between 0 and 1."""
    means = [(measure, value) for measure, value in summary.total.means.items() if measure is not Measure.EFFICIENCY]
    room = _WIDTH - _LABEL - 60
    drawn = []
    for number, (measure, value) in enumerate(means):
        y = number * _BAR
        drawn.append(
            f'<text x="0" y="{y + 15}">{measure.value}</text>'
            f'<rect x="{_LABEL}" y="{y + 3}" width="{room}" height="{_BAR - 8}" fill="#8884" />'
            f'<rect x="{_LABEL}" y="{y + 3}" width="{room * value:.1f}" height="{_BAR - 8}" fill="#3b6ea5" />'
            f'<text x="{_LABEL + room + 8}" y="{y + 15}">{value:.2f}</text>'
        )
    return _svg("Mean of each measure", len(means) * _BAR, drawn)


def forest(differences: Sequence[Difference]) -> str:
    """The mean paired difference of each measure with its interval, around zero."""
    shown = [each for each in differences if each.measure is not Measure.EFFICIENCY]
    middle, scale = _LABEL + (_WIDTH - _LABEL) / 2, (_WIDTH - _LABEL) / 2 - 10
    height = len(shown) * _BAR
    drawn = [f'<line x1="{middle}" y1="0" x2="{middle}" y2="{height}" stroke="#888" />']
    for number, each in enumerate(shown):
        y = number * _BAR + 11
        drawn.append(
            f'<text x="0" y="{y + 4}">{each.measure.value}</text>'
            f'<line x1="{middle + scale * each.low:.1f}" y1="{y}" x2="{middle + scale * each.high:.1f}" y2="{y}" '
            'stroke="#3b6ea5" stroke-width="3" />'
            f'<circle cx="{middle + scale * each.difference:.1f}" cy="{y}" r="5" fill="#3b6ea5" />'
        )
    return _svg("Mean difference in pairs, with its 95 % interval, from -1 to 1", height, drawn)


def _svg(label: str, height: int, drawn: Sequence[str]) -> str:
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'font-size="13">{"".join(drawn)}</svg><p class="quiet">{escape(label)}.</p>'
    )


def _slices(summary: Summary) -> str:
    heads = "".join(f'<th class="n">{short}</th>' for short in SHORT.values())
    rows = []
    for row in (*summary.rows, summary.total):
        cells = "".join(f'<td class="n">{_number(measure, row.means.get(measure))}</td>' for measure in SHORT)
        rows.append(f'<tr><td>{row.slice}</td><td class="n">{row.passed}/{row.cases}</td>{cells}</tr>')
    return f'<table><tr><th>slice</th><th class="n">pass</th>{heads}</tr>{"".join(rows)}</table>'


def _rules(summary: Summary) -> str:
    heads = "".join(f'<th class="n">{name}</th>' for name in SAID)
    rows = (
        f"<tr><td>{escape(rule)}</td>{''.join(_count(count) for count in counts)}</tr>"
        for rule, counts in by_rule(summary)
    )
    return f"<table><tr><th>rule</th>{heads}</tr>{''.join(rows)}</table>"


def _count(count: int) -> str:
    return f'<td class="n">{f"{count:,}" if count else "–"}</td>'


def _changes(comparison: Comparison) -> str:
    told = [
        f"<p>{label}: {escape(', '.join(names))}</p>"
        for label, names in (("lost", comparison.lost), ("gained", comparison.gained))
        if names
    ]
    return "".join(told) or '<p class="quiet">No case changed its verdict.</p>'


def _cases(run: SuiteRun) -> str:
    return (
        '<table><tr><th>case</th><th>slice</th><th>verdict</th><th class="n">decisions</th><th class="n">tokens</th>'
        f'<th class="n">ms</th><th>order</th><th>why</th></tr>{"".join(_case_rows(run))}</table>'
    )


def _case_rows(run: SuiteRun) -> Iterator[str]:
    for result in run.results:
        one = result.judged
        verdict, tokens = one.verdict.value, _number(Measure.EFFICIENCY, one.value(Measure.EFFICIENCY))
        warm = "warm" if result.warm else "cold"
        yield (
            f'<tr><td>{escape(one.case)}</td><td>{one.slice.value}</td><td class="{verdict}">{verdict}</td>'
            f'<td class="n">{one.decisions}</td><td class="n">{tokens}</td><td class="n">{one.ms:.0f}</td>'
            f"<td>{result.order} {warm}</td><td>{escape(one.why)}</td></tr>"
        )


def _number(measure: Measure, value: float | None) -> str:
    return "–" if value is None else f"{value:,.{0 if measure is Measure.EFFICIENCY else 2}f}"
