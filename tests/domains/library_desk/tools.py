"""The desk's two tools: one looks, the other changes and needs a librarian's word."""

from typing import Annotated, Any

from pydantic import Field

from state.contract import Effect, OutputField
from state.tools import Tool, ToolContext, ToolError, tool
from tests.domains.library_desk.loans import Loan, Loans
from tests.domains.library_desk.rules import READER, STAFF

LoanId = Annotated[str, Field(pattern=r"^L-[0-9]{4}$", description="The id of a loan.")]
OUTPUT = (
    OutputField(name="loan_id", trust="system"),
    OutputField(name="due", trust="system"),
    OutputField(name="status", trust="system"),
    OutputField(name="book", trust="untrusted"),
)


def tools(loans: Loans) -> tuple[Tool, ...]:
    """Both tools, on these loans."""

    def own(context: ToolContext, loan_id: str) -> Loan:
        loan = loans.find(context.scope.tenant, loan_id)
        if loan is None:
            raise ToolError("not_found", "this library has no such loan")
        return loan

    @tool(effect=Effect.READ, roles=(READER, STAFF), resources={"loan_id": "loan"}, idempotent=True, output=OUTPUT)
    def find_loan(context: ToolContext, *, loan_id: LoanId) -> dict[str, Any]:
        """See a loan: the book, the day it is due, and whether it is overdue.

        Errors: `not_found`.
        """
        loan = own(context, loan_id)
        status = "overdue" if loan.due < context.now else "running"
        return {"loan_id": loan.loan_id, "due": loan.due.date().isoformat(), "status": status, "book": loan.book}

    @tool(
        effect=Effect.WRITE,
        roles=(READER,),
        resources={"loan_id": "loan"},
        confirm=True,
        idempotent=True,
        output=OUTPUT,
    )
    def renew_loan(context: ToolContext, *, loan_id: LoanId) -> dict[str, Any]:
        """Renew a loan: the book may be kept three weeks longer.

        Errors: `not_found`.
        """
        due = loans.extend(own(context, loan_id), context.idempotency_key)
        return {"loan_id": loan_id, "due": due.date().isoformat(), "status": "renewed"}

    return (find_loan, renew_loan)
