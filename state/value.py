"""The one shape of every value in the house: a frozen model that refuses unknown fields."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value. Two values with equal fields are equal; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
