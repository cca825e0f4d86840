"""What a text says, one by one: sentences and rows, each with the headings above it."""

from graph.models.passages import Passage, passages

TEXT = (
    "# Title\nFirst line\ngoes on here. Second, e.g. this one!\n\n1. An item.\n2. Another\n   one.\n> quoted\n\n"
    "| a | b |\n---\n~~~\nshell. Here.\n~~~\n¿Qué pasa? ¡Nada! Costs 1.5 euros.\n```py\ncode. Here.\n```\nLast"
)


def test_what_a_sentence_is() -> None:
    assert [one.text for one in passages(TEXT)] == [
        "First line goes on here.",
        "Second, e.g. this one!",
        "An item.",
        "Another one.",
        "¿Qué pasa?",
        "¡Nada!",
        "Costs 1.5 euros.",
        "Last",
    ]


def test_headings_hold_until_one_of_their_level() -> None:
    text = "Before.\n# Title\n## One ##\nUnder one.\n### Deeper\nUnder deeper.\n## Two\nUnder two.\n#no heading"
    assert [(one.text, one.headings) for one in passages(text)] == [
        ("Before.", ""),
        ("Under one.", "Title One"),
        ("Under deeper.", "Title One Deeper"),
        ("Under two.", "Title Two"),
    ]


def test_a_row_is_told_with_its_columns_names() -> None:
    text = (
        "## Days\n\n| Day | Opens |  |\n|:--|--:|---|\n| Monday | nine | late \\| early |\n| Sunday |  | closed |\nEnd."
    )
    assert list(passages(text)) == [
        Passage("Day: Monday; Opens: nine; late \\| early", "Days", "Monday nine late \\| early", "Day Opens "),
        Passage("Day: Sunday; closed", "Days", "Sunday  closed", "Day Opens "),
        Passage("End.", "Days"),
    ]


def test_a_table_without_a_head_says_nothing() -> None:
    assert list(passages("| Monday | nine |\n| Sunday | ten |\n\n| Day |\n\n|---|")) == []
