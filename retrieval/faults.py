"""What can go wrong in this room, as exceptions: got, allowed, next step."""


class StoreUnavailable(RuntimeError):
    """A store cannot be opened, read or written: locked, read-only, damaged, or of another release."""

    def __init__(self, store: str, got: object, next_step: str) -> None:
        super().__init__(f"{store}: {got}; {next_step}")
        self.store = store


class EmbedderMismatch(RuntimeError):
    """The index was built by another embedder than the one that now asks."""

    def __init__(self, built_by: str, asked_by: str) -> None:
        super().__init__(
            f"the index was built with embedder {built_by}, and the settings name {asked_by}: vectors of different "
            "embedders cannot be compared; set the embedder back, or delete the index folder and ingest again"
        )


class EmbedderUnavailable(RuntimeError):
    """The default embedder's weights are missing or are not the ones this release was tested with."""


class BrokenDocument(ValueError):
    """A document that cannot be ingested; `file` is its path inside the corpus folder."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.reason = reason


class CorpusMissing(FileNotFoundError):
    """There is nothing to read where documents should be."""


class IngestBusy(RuntimeError):
    """Another process is ingesting into the same library folder."""


class IngestIncomplete(RuntimeError):
    """A store did not take all chunks it was given. The generation was not made live."""


class RerankerUnavailable(RuntimeError):
    """The reranker that the settings name is not installed, or its model is not there."""
