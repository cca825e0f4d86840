"""Which of the shipped skills a question brings, on labelled questions in both languages (S9)."""

from collections import Counter

from graph.skills import with_skills
from retrieval.skills import SkillChoice
from state.domain import Domain

CREDIT, PAGE = "outage-credit", "weekly-page"
QUESTIONS: list[tuple[str, str | None]] = [
    ("How much credit is due for six hours of downtime on A-123?", CREDIT),
    ("What is the outage of yesterday worth for account A-123?", CREDIT),
    ("Is a credit due to A-123 after the outage?", CREDIT),
    ("They were down for six hours, what do we owe them?", CREDIT),
    ("Work out the compensation for the incident of Monday.", CREDIT),
    ("How much do we give back for the interruption of the service?", CREDIT),
    ("The service was unavailable for four hours. What credit?", CREDIT),
    ("¿Qué crédito corresponde por una caída de seis horas?", CREDIT),
    ("¿Cuánto se abona por la interrupción del servicio?", CREDIT),
    ("¿Cuánto les debemos por la caída de ayer?", CREDIT),
    ("Credit for 6 h outage, pro plan, 49 a month?", CREDIT),
    ("Write the weekly page.", PAGE),
    ("Make a summary of this week.", PAGE),
    ("Give me the week's review.", PAGE),
    ("What came in this week and what is still open?", PAGE),
    ("Summarise the tickets of the last seven days.", PAGE),
    ("Escribe la página semanal.", PAGE),
    ("Hazme un resumen de la semana.", PAGE),
    ("Weekly report please", PAGE),
    ("What did several tickets have in common this week?", PAGE),
    # no skill is meant
    ("Why is my API key not working?", None),
    ("Rotate my key", None),
    ("List my tickets", None),
    ("Show ticket T-502", None),
    ("What is the plan of account A-123?", None),
    ("How do I rotate a key every week?", None),
    ("Issue a credit of 20 euros to A-123", None),
    ("Is there an open incident?", None),
    ("Remember to call me after ten.", None),
    ("Which page of the docs describes webhooks?", None),
    ("Is the service down?", None),
    ("¿Por qué no funciona mi clave?", None),
    ("How long are tickets kept?", None),
    ("How many hours until a person replies?", None),
]


def test_a_skill_that_is_not_meant_is_not_brought_and_most_that_are_meant_are(support: Domain) -> None:
    domain = with_skills(support)
    assert domain.shelf is not None
    ours = [section.text for section in domain.instructions] + [example.text for example in domain.examples]
    told = [tool.contract.description for tool in domain.tools]
    choice = SkillChoice(domain.shelf.pinned, [*ours, *told])
    brought = [(meant, [one.name for one in choice.matching(asked, 1)]) for asked, meant in QUESTIONS]
    found = Counter((meant is not None, names == [meant] if names else None) for meant, names in brought)
    assert found == {(True, True): 14, (True, None): 6, (False, None): 14}
