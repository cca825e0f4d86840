"""Links are seen as whoever reads the text may follow them, and told apart as a server tells them apart (X4)."""

import time

import pytest

from state.checks.links import address, urls

SEEN: dict[str, tuple[str, set[str]]] = {
    "with a scheme": ("see https://evil.com/x.", {"evil.com/x"}),
    "another scheme": ("see ftp://evil.com/x", {"ftp://evil.com/x"}),
    "no encryption": ("see http://evil.com", {"http://evil.com"}),
    "a bare domain": ("see evil.com, please", {"evil.com"}),
    "a bare domain at the end": ("see evil.com.", {"evil.com"}),
    "a query": ("see evil.com?u=1", {"evil.com?u=1"}),
    "a fragment": ("see evil.com#x", {"evil.com#x"}),
    "a host that ends in a dot": ("see evil.com.:8443/x and evil.com./y", {"evil.com.:8443/x", "evil.com./y"}),
    "another program": ("see ipfs:Qm1 and ms-msdt:/id", {"ipfs:Qm1", "ms-msdt:/id"}),
    "a port": ("see evil.com:8443/x", {"evil.com:8443/x"}),
    "no scheme but slashes": ("//evil.com/x", {"evil.com/x"}),
    "turned slashes": ("http:\\\\evil.com\\x", {"http://evil.com\\x"}),
    "in capitals": ("HTTPS://EVIL.COM/Ab", {"evil.com/Ab"}),
    "a script": ("javascript:alert(1)", {"javascript:alert(1)"}),
    "a mail to write": ("mailto:a@evil.com", {"mailto:a@evil.com"}),
    "behind a bracket": ("https://good.com/)evil", {"good.com/)evil"}),
    "of Markdown": ("[x](evil.com)", {"evil.com"}),
    "of Markdown with a scheme": ("[x](https://evil.com/a)", {"evil.com/a"}),
    "its own brackets": ("https://a.com/b_(c)", {"a.com/b_(c)"}),
    "a user in front": ("https://good.com@evil.com/", {"good.com@evil.com"}),
    "an address of numbers": ("1.2.3.4/x", {"1.2.3.4/x"}),
    "this machine": ("localhost:80/x", {"localhost:80/x"}),
    "a name of another script": ("xn--80ak6aa92e.com/", {"xn--80ak6aa92e.com"}),
    "letters not seen": ("https:\u200b//evil.c\u00adom/x", {"evil.com/x"}),
    "a joiner": ("evil\u200d.com", {"evil.com"}),
    "wide letters": ("ｅｖｉｌ．com/x", {"evil.com/x"}),
    "another dot": ("evil。com/x", {"evil.com/x"}),
    "a file's ending with a page": ("evil.pdf/x", {"evil.pdf/x"}),
    "no link: a mail address": ("write to ana.ruiz@example.com.", set()),
    "no link: a file": ("see plan.docx and budget.xlsx", set()),
    "no link: numbers and sentences": ("it costs 12.50, e.g. at 14:00. Yes. No", set()),
}


@pytest.mark.parametrize(("text", "found"), SEEN.values(), ids=SEEN.keys())
def test_links_are_seen(text: str, found: set[str]) -> None:
    assert urls(text) == found


SAME: dict[str, tuple[str, str, bool]] = {
    "without its scheme": ("good.com/a", "https://good.com/a", True),
    "the case of a host": ("HTTPS://Good.com/a", "https://good.com/a", True),
    "no path": ("https://good.com/", "good.com", True),
    "space around": (" good.com/a ", "good.com/a", True),
    "without encryption": ("http://good.com/a", "https://good.com/a", False),
    "the case of a path": ("good.com/A", "good.com/a", False),
    "the case of what opens a program": ("ipfs:QmA", "ipfs:qma", False),
    "the case of a program": ("IPFS:QmA", "ipfs:QmA", True),
    "another host": ("www.good.com", "good.com", False),
    "signs at the end": ("good.com/a???", "good.com/a", False),
    "another scheme": ("ftp://good.com/a", "good.com/a", False),
}


@pytest.mark.parametrize(("one", "other", "alike"), SAME.values(), ids=SAME.keys())
def test_two_addresses_are_the_same(one: str, other: str, alike: bool) -> None:
    assert (address(one) == address(other)) is alike


@pytest.mark.parametrize("part", ["a-", "a.", "a.b", "1.", "http:", "a@b.", "("])
def test_a_long_text_is_read_in_a_moment(part: str) -> None:
    started = time.process_time()
    urls(part * 20_000)
    assert time.process_time() - started < 2.0
