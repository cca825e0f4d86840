"""The one shape of every value in the house: a frozen model that refuses unknown fields."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value. Two values with equal fields are equal; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Ruled(Value):
    """A value that gates are built on: a changed copy of it is checked like one that is made, which pydantic's own
    `model_copy` does not do. Raises ValidationError."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values for some fields."""
        if not update:
            return super().model_copy(deep=deep)
        return type(self).model_validate({**dict(self), **update})
