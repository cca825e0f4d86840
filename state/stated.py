"""Facts that a source declares as typed values (S11): what code can compare exactly, where prose only resembles.

A document declares them in its front matter, a tool's contract by its output fields, the policy record by its values;
one name is one fact, wherever it is declared.
"""

from typing import Annotated

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

FACT_NAME = r"^[a-z][a-z0-9_]{1,63}$"

FactName = Annotated[str, Field(pattern=FACT_NAME)]
FactValue = StrictBool | StrictInt | StrictFloat | Annotated[StrictStr, Field(max_length=80)]
Facts = dict[FactName, FactValue]


def same(one: FactValue, other: FactValue) -> bool:
    """Whether two values say the same: 8 and 8.0 do, 1 and true do not, nor 8 and "8"."""
    if isinstance(one, bool) or isinstance(other, bool):
        return isinstance(one, bool) and isinstance(other, bool) and one == other
    return one == other
