"""The bodies that records lead to, read together: one statement for some hundred of them, on either engine."""

from collections.abc import Iterable

from pydantic import ValidationError

from state.context import ContextManifest
from state.ports import Artifacts, RecordDamaged, StoredBody


class Bodies:
    """Bodies of one tenant's space, each read once and checked against its address. An erased one is None."""

    def __init__(self, artifacts: Artifacts, tenant: str) -> None:
        self._artifacts, self._tenant = artifacts, tenant
        self._held: dict[str, StoredBody | None] = {}
        self._manifests: dict[str, ContextManifest] = {}

    def fetch(self, refs: Iterable[str]) -> None:
        """Read those that are not held yet."""
        new = {ref for ref in refs if ref not in self._held}
        if new:
            found = self._artifacts.examined(self._tenant, new)
            self._held.update({ref: found.get(ref) for ref in new})

    def fetch_manifests(self, refs: Iterable[str]) -> None:
        """Read manifests, and the bodies that they name."""
        new = {ref for ref in refs if ref not in self._manifests}
        self.fetch(new)
        for ref in new:
            body = self._held[ref]
            try:
                if body is not None:
                    self._manifests[ref] = ContextManifest.model_validate_json(body.text or "")
            except ValidationError:
                continue  # `manifest` says so
        made = [self._manifests[ref] for ref in new & self._manifests.keys()]
        self.fetch(ref for one in made for ref in (one.policy_ref, *(item.ref for item in one.items)))

    def at(self, ref: str) -> StoredBody | None:
        """The body at an address."""
        self.fetch((ref,))
        return self._held[ref]

    def manifest(self, ref: str) -> ContextManifest | None:
        """The manifest at an address. Raises RecordDamaged for a body that is none."""
        self.fetch_manifests((ref,))
        if ref not in self._manifests and self.at(ref) is not None:
            raise RecordDamaged(f"the body at {ref} is no manifest")
        return self._manifests.get(ref)
