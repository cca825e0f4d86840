"""Which of two things said of one topic is news of the other: labelled pairs, and what the words alone make of them."""

from collections import Counter

from retrieval.memory_writing import speaks_of_same

# What was said, what is said later, and whether it contradicts or corrects it.
PAIRS = [
    # contradictions
    ("Our exports run every night at two.", "Our exports run every night at five.", True),
    ("The contact of the Valencia warehouse is Olga.", "The contact of the Valencia warehouse is Pedro.", True),
    ("We use Python 3.11 on our servers.", "We use Python 3.12 on our servers.", True),
    ("Answer me in Spanish.", "Answer me in English.", True),
    ("I prefer short answers.", "I prefer long answers.", True),
    ("Send invoices to the Madrid office.", "Send invoices to the Bilbao office.", True),
    ("Nuestra exportación corre a las dos de la noche.", "Nuestra exportación corre a las cinco de la noche.", True),
    ("El contacto del almacén es Olga.", "El contacto del almacén es Pedro.", True),
    ("Our region is eu-west.", "Our region is us-east.", True),
    ("The nightly export needs the proxy.", "The nightly export does not need the proxy.", True),
    ("Do not call me before ten.", "Call me before ten.", True),
    ("Our plan is Free.", "Our plan is Pro now.", True),
    ("Contact me by mail.", "From now on by phone.", True),
    ("We run on Kubernetes.", "We moved to plain servers.", True),
    # unrelated
    ("The contact of the Valencia warehouse is Olga.", "The contact of the Madrid shop is Pedro.", False),
    ("I prefer short answers.", "I prefer answers in Spanish.", False),
    ("Our exports run every night at two.", "Exports of the archive go to the Bilbao office.", False),
    ("We use Python 3.11 on our servers.", "Our deploy runs on Tuesdays.", False),
    ("Answer me in Spanish.", "Give me links to the runbooks.", False),
    ("Our region is eu-west.", "Our plan is Pro.", False),
    ("Nuestra exportación corre a las dos.", "El contacto del almacén es Olga.", False),
    ("Exports need the proxy.", "Exports are in CSV.", False),
    ("I work from Valencia.", "I work in the mornings.", False),
    ("Show amounts in euros.", "Show dates as day and month.", False),
    ("The staging key is rotated monthly.", "The production key is rotated weekly.", False),
    ("Tell me the cause first.", "Tell me the next step last.", False),
]


def test_unrelated_things_are_seldom_taken_for_one_and_most_corrections_are_seen() -> None:
    found = Counter((said, speaks_of_same(one, other)) for one, other, said in PAIRS)
    assert found == {(True, True): 9, (True, False): 5, (False, False): 10, (False, True): 2}


def test_it_is_the_same_both_ways_and_of_itself() -> None:
    assert all(speaks_of_same(one, other) is speaks_of_same(other, one) for one, other, _ in PAIRS)
    assert all(speaks_of_same(one, one) for one, _, _ in PAIRS)
