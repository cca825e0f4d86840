"""Several folders in one library: which of them an id belongs to, and what a folder takes back."""

from collections.abc import Sequence

from retrieval.document import Document
from retrieval.folder import Broken, Contents
from retrieval.intake import Intake, folder_of, tenant_of
from retrieval.publish import Held
from state.run import PUBLIC_TENANT


def apart(found: Contents, held: Sequence[Held]) -> tuple[tuple[Document, ...], tuple[Broken, ...]]:
    """What a folder from outside may bring, and what it may not: an id belongs to the folder that brought it first.

    A folder that was moved or deleted holds nothing back. For two tenants an id may be two documents, for one tenant
    and the public not in the same version: a citation would name two texts.
    """
    others: dict[str, list[Held]] = {}
    for row in held:
        if row.origin != found.origin:
            others.setdefault(row.document_id, []).append(row)
    kept: list[Document] = []
    broken = list(found.broken)
    for document in found.documents:
        taken = next((row for row in others.get(document.front.id, ()) if _stands_against(row, document)), None)
        if taken is None:
            kept.append(document)
            continue
        place = folder_of(taken.origin) / taken.file
        whose = tenant_of(taken.origin)
        how = f", read for {whose}" if whose else ""
        reason = f"{taken.source} is already in {place}{how}; give one of them another id, or withdraw the other folder"
        broken.append(Broken(file=document.file, reason=reason))
    return tuple(kept), tuple(broken)


def withdrawn(
    found: Contents,
    documents: Sequence[Document],
    broken: Sequence[Broken],
    held: Sequence[Held],
    intake: Intake | None,
) -> list[Held]:
    """The rows of this folder that are not in it any more.

    What was live of a broken file stays, unless the folder may not bring it now: readers that were taken away by
    option must not come back by a mistake in a file. The domain's corpus is one, wherever it lies: an upgrade that
    installs it elsewhere must not leave what it no longer holds.
    """
    seen = {(document.front.tenant, document.source) for document in documents}
    spoiled = {fault.file for fault in broken}

    def gone(row: Held) -> bool:
        own = row.origin == found.origin or (intake is None and tenant_of(row.origin) is None)
        if not own or (row.tenant, row.source) in seen or found.only not in (None, row.file):
            return False
        if intake is not None and not intake.allows(row.tenant, row.acl):
            return True
        return found.lost(row.file) and row.file not in spoiled

    return [row for row in held if gone(row)]


def _stands_against(row: Held, document: Document) -> bool:
    if row.tenant != document.front.tenant and (
        PUBLIC_TENANT not in {row.tenant, document.front.tenant} or row.source != document.source
    ):
        return False
    return (folder_of(row.origin) / row.file).exists()
