"""What OpenAI's own tokenizer and published format make of some requests: the reference that ours is held against.

`python -m tests.state.published` writes it to `published_counts.json` beside this file. The texts are counted by
tiktoken, OpenAI's implementation, which shares no code and no vocabulary file with ours; it takes a vocabulary only
where its sha256 is the published one. TIKTOKEN_CACHE_DIR names a folder that has them, else it downloads them. The
rules for messages and functions are written here from their publication, for this purpose alone.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from state.context import RequestSettings
from state.forms import FORMS
from state.request import Message, Request, ToolSpec

FILE = Path(__file__).with_name("published_counts.json")
ENCODINGS = ("o200k_base", "cl100k_base")
# What the published rule adds for each function beside its texts.
_PER_FUNCTION = {"o200k_base": 7, "cl100k_base": 10}

TEXTS = {
    "words": "The key was revoked on Friday; a new one is ready.",
    "CJK": "密钥已于星期五被撤销。新しいキーをご利用ください。키가 취소되었습니다",
    "rare CJK": "𠮷野家 𪚥 㐂 龘",
    "emoji": "👩‍💻🔑 revoked 🇪🇸 👍🏽",
    "other scripts": "المفتاح ملغى · कुंजी रद्द · מפתח בוטל · ключ отозван",
    "marks on letters": "Zalgo: e\u0301\u0302\u0303 n\u0303 ﬁ İ ß",
    "code": 'def f(x: int) -> str:\n\treturn f"{x:>08}"  # ¡hecho!\n\n\n{"a": [1, null]}',
    "minified": "const a=b=>c.map(d=>d?.e??{f:0xFF_FF,g:`${h}\\n`});//i",
    "blocks": '<document id="a&amp;b">\n&lt;|endoftext|&gt;\n</document>',
    "special tokens": "<|endoftext|><|im_start|>system<|im_end|>",
    "white space": "a  b\t\tc\r\n\r\n   d\u00a0e\u3000f \n",
    "numbers": "1234567890123 3.14159e-10 0x7fff 2026-07-15T09:30:00Z 1,000,000",
    "identifiers": "sk-live-4f9d2c7b1a K-1007 camelCaseHTTPServer SCREAMING_SNAKE can't WON'T",
    "one letter again and again": "a" * 300,
    "nothing": "",
}


def flat(name: str, description: str, **arguments: Any) -> ToolSpec:
    """A tool whose arguments have no parts."""
    parameters = {"type": "object", "properties": arguments, "required": [], "additionalProperties": False}
    return ToolSpec.model_validate({"name": name, "description": description, "parameters": parameters})


_LOAN = flat("look_up", "Look up a loan by its number.", loan={"type": "string", "description": "The number."})
_RENEW = flat("renew", "Renew it.", weeks={"type": "integer"}, way={"type": "string", "enum": ["post", "desk"]})
TOOLS: dict[str, tuple[ToolSpec, ...]] = {
    "one argument": (_LOAN,),
    "a choice": (_RENEW,),
    "no argument": (flat("status", "Say how the service is."),),
    "CJK and emoji": (flat("查询", "查询贷款 📚。", 编号={"type": "string", "description": "编号。"}),),
    "forms": tuple(FORMS.values()),
    "everything": (_LOAN, _RENEW, flat("status", "Say how the service is."), *FORMS.values()),
}


def a_request(text: str, tools: Sequence[ToolSpec] = ()) -> Request:
    """A request that says this, with these tools."""
    return Request(
        messages=(Message(channel="instruction", content=TEXTS["words"]), Message(channel="input", content=text)),
        tools=tuple(tools),
        settings=RequestSettings(max_output_tokens=100),
    )


def of_messages(messages: Sequence[Message], count: Callable[[str], int]) -> int:
    """The published format: three tokens for each message, its role and its content; three begin the reply."""
    roles = {"instruction": "system", "input": "user"}
    return 3 + sum(3 + count(roles[message.channel]) + count(message.content) for message in messages)


def of_tools(tools: Sequence[ToolSpec], count: Callable[[str], int], encoding: str) -> int:
    """The rule published for functions: names, types, descriptions and choices of their arguments."""
    total = 12 if tools else 0
    for tool in tools:
        total += _PER_FUNCTION[encoding] + count(f"{tool.name}:{tool.description.removesuffix('.')}")
        arguments: Any = tool.parameters.get("properties", {})
        total += 3 if arguments else 0
        for name, schema in arguments.items():
            total += 3 + count(f"{name}:{schema.get('type', '')}:{schema.get('description', '').removesuffix('.')}")
            choices = schema.get("enum", ())
            total += sum(3 + count(str(choice)) for choice in choices) - (3 if choices else 0)
    return total


def counted() -> dict[str, dict[str, dict[str, int]]]:
    """The counts of each text and each list of tools, by encoding."""
    import tiktoken

    made: dict[str, dict[str, dict[str, int]]] = {}
    for name in ENCODINGS:
        encoding = tiktoken.get_encoding(name)

        def count(text: str, encode: Callable[..., list[int]] = encoding.encode) -> int:
            return len(encode(text, disallowed_special=()))  # what a text says is text, a special token too

        made[name] = {
            "messages": {case: of_messages(a_request(text).messages, count) for case, text in TEXTS.items()},
            "tools": {
                case: of_messages(a_request("", tools).messages, count) + of_tools(tools, count, name)
                for case, tools in TOOLS.items()
            },
        }
    return made


if __name__ == "__main__":
    FILE.write_text(json.dumps(counted(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
