"""What HTTP can carry: addresses, and the names and values of headers. What it cannot is refused with the settings,
since a client would tell of it in its own words at the first call, or take the server for one that does not answer."""

import re
from typing import Annotated

from pydantic import AfterValidator, HttpUrl, SecretStr, TypeAdapter, ValidationError

_URL = TypeAdapter(HttpUrl)
_ADDRESS = re.compile(r"https?://[!-.0-~][!-~]*")
_VALUE = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _address(text: str) -> str:
    allowed = "an address that begins with http:// or https:// and has ASCII characters alone"
    if not _ADDRESS.fullmatch(text):
        raise ValueError(allowed)
    try:
        _URL.validate_python(text)
    except ValidationError as error:
        _, _, why = error.errors(include_input=False)[0]["msg"].rpartition(", ")
        raise ValueError(f"{allowed} ({why})") from None
    return text


def _value(secret: SecretStr) -> SecretStr:
    if not _VALUE.fullmatch(secret.get_secret_value()):
        raise ValueError("what a header can carry: printable ASCII, with no line break and no space at its ends")
    return secret


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("a header's name: ASCII letters, digits and hyphens")
    return text


Address = Annotated[str, AfterValidator(_address)]
"""The address of a server, as every client reads it."""

HeaderSecret = Annotated[SecretStr, AfterValidator(_value)]
"""A secret that is sent in a header."""

HeaderName = Annotated[str, AfterValidator(_name)]
"""The name of a header."""
