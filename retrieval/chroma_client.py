"""A client of Chroma, on files or on a server: opened, closed, its faults as ours. Only this file imports chromadb."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import chromadb
import httpx
from chromadb.api.client import Client
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError

from retrieval.faults import StoreUnavailable

__all__ = ["ChromaError", "Client", "Collection", "NotFoundError"]  # what the index is made with

ANSWER_S = 60.0  # that a server may take to answer


def open_client(place: Path | str) -> Client:
    """A client of a folder or of a server. Raises StoreUnavailable. Telemetry off: nothing leaves the machine."""
    quiet = Settings(anonymized_telemetry=False)
    if isinstance(place, Path):
        client = chromadb.PersistentClient(path=str(place), settings=quiet)
    else:
        url = urlsplit(place)
        secure = url.scheme == "https"
        try:
            client = chromadb.HttpClient(
                host=url.hostname or "", port=url.port or (443 if secure else 80), ssl=secure, settings=quiet
            )
        except ValueError as fault:
            raise StoreUnavailable(
                "dense index", f"no Chroma server answers at {place}", "start it (`chroma run`), or correct the address"
            ) from fault
    assert isinstance(client, Client)  # the declared type lacks `close`
    for session in _sessions(client):
        session.timeout = httpx.Timeout(ANSWER_S)  # Chroma's own client waits for ever
    return client


def close_client(client: Client) -> None:
    """Close a client, and the connections that one of a server leaves open."""
    sessions = _sessions(client)
    client.close()
    for session in sessions:
        session.close()


def _sessions(client: Client) -> list[httpx.Client]:
    sides = (client, getattr(client, "_admin_client", None))
    found = [getattr(getattr(side, "_server", None), "_session", None) for side in sides]
    return [session for session in found if isinstance(session, httpx.Client)]


@contextmanager
def reached() -> Iterator[None]:
    """Turns what Chroma and its connection raise into one error that names the next step."""
    try:
        yield
    except httpx.HTTPError as fault:
        raise StoreUnavailable(
            "dense index",
            f"the Chroma server does not answer any more ({str(fault) or type(fault).__name__})",
            "start it again (`chroma run`) and repeat; nothing is half-written that a reader sees",
        ) from fault
    except ChromaError as fault:
        raise StoreUnavailable(
            "dense index", fault, "check that its folder is writable and complete; deleting the library rebuilds it"
        ) from fault


@contextmanager
def plain_collection(folder: Path) -> Iterator[Collection]:
    """One collection for everybody, as a first attempt has it: what the bench measures this index against."""
    client = open_client(folder)
    try:
        yield client.create_collection("plain", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None)
    finally:
        close_client(client)
