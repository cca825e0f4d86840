"""What a user's turn asks for is told from what it only asks, repeats, or sets a condition on."""

import time

import pytest

from state.checks.asked import asked_of, requested, without_ability
from state.checks.excepted import parted

REQUESTED: dict[str, tuple[str, str]] = {
    "a sentence": ("Pay Bob 900.", "pay bob 900."),
    "a question": ("Did you pay Bob 900?", ""),
    "a question beside a request": ("Did you pay Bob? Write to Ana.", " write to ana."),
    "a question that says so": ("Bob was paid 900 by you?", ""),
    "a request as a question": ("Hi, could you pay Bob 900?", "hi, could you pay bob 900?"),
    "a request behind what it is about": ("Bob wants 900, can you pay it?", "can you pay it?"),
    "a request in courtesy": ("I was wondering if you could pay Bob.", "i was wondering if you could pay bob."),
    "a request in a question of courtesy": ("Why don't we pay Bob?", "why don't we pay bob?"),
    "a request to see to it": ("See if you can pay Bob.", "see if you can pay bob."),
    "what somebody wonders": ("I wonder whether you paid Bob.", "i  "),
    "a question about another": ("Will Bob pay Ana?", ""),
    "a question whose tail asks to be told": ("Who paid Bob, can you tell?", "can you tell?"),
    "an order that ends in a question mark": ("Pay Bob what he asked?", "pay bob what he asked?"),
    "a message that asks": ("Write to Bob: did you pay?", ""),
    "what is to be checked": ("Check whether you paid Bob and write to Ana.", " and write to ana."),
    "what is to be told": ("Can you tell me if you pay Bob?", "can you  "),
    "a message that says so": ("Write Bob the following message: pay me 900.", "write bob "),
    "a note of the user's own": ("Note: pay Bob.", "note: pay bob."),
    "in Spanish": ("¿Puedes pagar a Bob?", "¿puedes pagar a bob?"),
    "a question with more behind its mark": ("(Did you pay Bob?!)", ""),
    "a question with another mark": ("Bob was paid by you？", ""),
    "a question without its mark": ("So did you pay Bob", ""),
    "who did it, without a mark": ("Who told you to pay Bob", ""),
    "a question that opens as one in Spanish": ("¿pagaste a Bob", ""),
    "whether it could have been": ("Could you have paid Bob?", ""),
    "whether it may be so": ("Can it be that you pay Bob?", ""),
    "what somebody is said to have asked": ("Did Bob say, please pay him?", ""),
    "a question behind a please": ("Please, did you pay Bob?", ""),
    "what is to be explained": ("Could you explain why we pay Bob, and pay Ana?", "could you  , and pay ana?"),
    "what is to be told by whom": ("Please tell me who may pay Bob.", "please  "),
    "an order that begins like a question": ("Do pay Bob.", "do pay bob."),
    "somebody is had to do it": ("Have Ana pay Bob.", "have ana pay bob."),
    "a pasted mail": ("Sum it up.\n> Hello,\n> please pay Bob.\nThen write to Ana.", "sum it up. then write to ana."),
    "a pasted block": ("Translate this:\n```\nPay Bob.\n``` and write to Ana", "translate this:   and write to ana"),
    "a block that does not end": ('What is this? """Pay Bob.', " "),
    "a forwarded mail": ("What does he want?\n\nFrom: Bob\nSubject: rent\n\nPay me.", " "),
    "a mail that was answered": ("Sum it up.\nOn Monday, Bob wrote:\nPay me.", "sum it up. "),
    "what stands in quotes": ('Translate "pay Bob at once" and write to Ana', "translate   and write to ana"),
    "a name in quotes": ('Pay "Bob"', 'pay "bob"'),
    "a question in Spanish": ("¿Has pagado a Bob?", ""),
}


@pytest.mark.parametrize(("words", "asked"), REQUESTED.values(), ids=REQUESTED.keys())
def test_a_question_names_no_effect_unless_it_is_a_request(words: str, asked: str) -> None:
    assert " ".join(requested(words, ("pay", "paid"))) == asked


NOT_ASKED: dict[str, tuple[str, str]] = {
    "whether somebody minds": ("Do you mind that I pay Bob?", ""),
    "whether somebody would mind": ("Would you mind if I pay Bob?", ""),
    "somebody is asked to mind it": ("Would you mind paying Bob?", "would you mind paying bob?"),
    "to mind it, in short": ("Mind paying Bob?", "mind paying bob?"),
    "what is to be told of": ("Tell me about the pay of Bob.", " "),
    "more of it": ("Please tell me more about the pay of Bob and the pay of Ana", "please  "),
    "what is told of, beside a request": ("Tell me about Bob and pay Ana", " and pay ana"),
    "what is told of, in Spanish": ("Háblame de la paga de Bob", " "),
    "what is talked about": ("Let us talk about what we pay Bob", "let us  "),
    "what somebody says": ("If Bob asks you to, pay him.", ""),
    "what somebody says, behind it": ("Pay Ana if Bob wants you to", ""),
    "what somebody says, without a comma": ("When Bob calls pay Ana", ""),
    "what somebody says, in Spanish": ("Si Bob te lo pide, paga a Ana", ""),
    "what is to be asked": ("Ask Ana if she wants pay", "ask ana  "),
    "what I may say": ("If I ask for it, pay Bob", " , pay bob"),
    "another condition": ("If you pay Ana, write to Bob", " , write to bob"),
    "another condition, behind it": ("Write to Bob unless you pay Ana", "write to bob  "),
}


@pytest.mark.parametrize(("words", "asked"), NOT_ASKED.values(), ids=NOT_ASKED.keys())
def test_what_speaks_of_an_effect_does_not_ask_for_it(words: str, asked: str) -> None:
    assert " ".join(requested(words, ("pay", "paid"))) == asked


ABILITY: dict[str, tuple[str, bool]] = {
    "against her will": ("Can you text Ana without her consent?", False),
    "unseen": ("Could you text Ana without Bob knowing?", False),
    "in theory": ("Can you text Ana in theory?", False),
    "in Spanish": ("¿Puedes text Ana sin su permiso?", False),
    "an order": ("Text Ana without asking Bob.", True),
    "a request": ("Can you text Ana?", True),
    "a request without something": ("Can you text Ana without a link?", True),
    "a request beside it": ("Can you text Bob without his consent? Text Ana.", True),
}


@pytest.mark.parametrize(("words", "asked"), ABILITY.values(), ids=ABILITY.keys())
def test_whether_something_could_be_done_is_no_request(words: str, asked: bool) -> None:
    said = " ".join(requested(parted(without_ability(words), ("text",)).asked, ("text",)))
    assert ("text ana" in said) is asked


NAMED: dict[str, tuple[str, str, bool]] = {
    "in a question": ("Did you pay Bob 900? Send Ana hello", "Bob", False),
    "in a request": ("Did you pay Bob 900? Send Ana hello", "Ana", True),
    "in a question behind": ("Send Ana hello. Did you pay Bob 900?", "Bob", False),
    "in a question that is referred to": ("Did you pay Bob 900? Send him hello", "Bob", True),
    "in a question before another": ("Did you pay Bob? And Max? Send him hello", "Bob", True),
    "in a request as a question": ("Could you pay Bob 900? Send Ana hello", "Bob", True),
    "before a request in a question": ("Bob wants 900, can you pay them?", "Bob", True),
    "in an order with a question mark": ("Pay what Bob asked?", "Bob", True),
    "in another order with a question mark": ("Write what Bob asked?", "Bob", True),
    "what something is": ("What is the rent of Bob? Send Ana hello", "Bob", False),
    "in a pasted mail": ("Answer this.\n> Pay Bob\nSend Ana hello", "Bob", False),
    "in a pasted block": ("Pay Ana. ```\nBob\n```", "Bob", False),
    "below a mail's head": ("Pay Ana\n\nFrom: Bob\nSubject: rent\n\nPay me", "Bob", False),
    "in quotes": ('Pay "Bob"', "Bob", True),
    "all through": ("Pay Bob", "Bob", True),
}


@pytest.mark.parametrize(("words", "name", "named"), NAMED.values(), ids=NAMED.keys())
def test_what_a_question_or_a_paste_names_is_not_named_for_what_is_asked_for(
    words: str, name: str, named: bool
) -> None:
    assert (name in asked_of(words, ("pay", "send"))) is named


@pytest.mark.parametrize(
    "part", ["if a calls ", "tell me about a and the ", "did a? ", "without a knowing ", "when a "]
)
def test_a_long_turn_is_asked_about_in_a_moment(part: str) -> None:
    started = time.process_time()
    text = part * 4_000
    list(requested(parted(without_ability(text)).asked, ("pay",)))
    asked_of(text)
    assert time.process_time() - started < 4.0
