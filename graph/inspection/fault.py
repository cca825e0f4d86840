"""What verification says of a thread that is not as it was filed."""

from state.record import DecisionRecord
from state.value import Value

_SHORT = 12  # characters of a hash that tell it from another


class Fault(Value):
    """Something that is not as it was filed: which record, what of it, and how it differs.

    `record` is empty for what is no record's, `index` null where the record cannot be read.
    """

    record: str
    index: int | None
    what: str
    how: str

    @property
    def told(self) -> str:
        """The fault in one line."""
        decision = [f"decision {self.index}"] if self.index is not None else []
        record = [f"record {self.record[:_SHORT]}"] if self.record else []
        where = ", ".join(decision + record)
        return f"{where}: {self.what} {self.how}" if where else f"{self.what} {self.how}"


def fault_of(name: str, record: DecisionRecord, what: str, how: str) -> Fault:
    """A fault of a record that can be read."""
    return Fault(record=name, index=record.index, what=what, how=how)
