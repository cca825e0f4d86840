"""Documents from outside: what a folder may bring, and what its files do not say of themselves.

The options of the ingest give tenant and readers. A file's own front matter may narrow them, and never widens them.
"""

import re
import unicodedata
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Self
from urllib.parse import quote, unquote

from pydantic import Field, model_validator

from retrieval.document import MAX_ID_CHARS, Document, described
from retrieval.faults import BrokenDocument
from retrieval.formats import may_have_sidecar, read
from state.run import PUBLIC_TENANT
from state.value import Value

_SCHEME = "ingest://"
_MARK_CHARS = 6  # of a name's hash, where the name itself cannot be told in the letters of an id
_VERSION_CHARS = 8
# Somebody chose these documents, and nobody weighed them one by one. At the front matter's own 0.5 a perfect match
# lost its place to a distant one of the domain's, which lie between 0.7 and 0.9.
_AUTHORITY = 0.7


class Intake(Value):
    """Which tenant a folder is read for, and who may read what it brings.

    `public` gives the documents to every tenant, save those whose front matter names `tenant`. `acl` lists groups;
    empty, everyone of the tenant may read. `passed_over` are keys of front matter that say nothing of access.
    """

    tenant: str = Field(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f]+$")
    public: bool = False
    acl: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _said_to_be_public(self) -> Self:
        if self.tenant == PUBLIC_TENANT and not self.public:
            raise ValueError(f"got tenant {PUBLIC_TENANT!r}, whose documents every tenant reads; say so with `public`")
        return self

    @property
    def default_tenant(self) -> str:
        """Whose a document is that does not say."""
        return PUBLIC_TENANT if self.public else self.tenant

    def origin(self, folder: Path) -> str:
        """The name under which the library keeps what this folder brings for this tenant."""
        return f"{_SCHEME}{quote(self.tenant, safe='')}{folder.resolve().as_posix()}"

    def allows(self, tenant: str, acl: tuple[str, ...]) -> bool:
        """Whether a document of a tenant and with these readers stays within what the folder may bring."""
        narrow = not self.acl or (bool(acl) and set(acl) <= set(self.acl))
        return narrow and tenant in {self.tenant, self.default_tenant}

    def document(self, file: str, raw: bytes, folder_name: str, sidecar: bytes | None = None) -> Document:
        """The document in a file's bytes; `sidecar` is what stands beside it. Raises BrokenDocument with the reason.

        A file that does not say gets its id from its place (`runbooks/etcd/etcdNoLeader`), its version from its
        content, so that an answer cites exactly this text, and is in force at once.
        """
        found = read(file, raw, sidecar)
        keys = found.keys
        if keys is None and not may_have_sidecar(file) and re.match(r"\s*---[ \t]*\r?\n", found.text):
            # Taken for text, what it says of its readers would be lost.
            raise BrokenDocument(
                file, "it begins like front matter and is none; open with `---` in the first line, close with `---`"
            )
        given = {key: value for key, value in (keys or {}).items() if key not in self.passed_over}
        own_tenant = given.get("tenant")
        if own_tenant not in (None, self.tenant, self.default_tenant):
            raise BrokenDocument(
                file,
                f"tenant: the file says {own_tenant!r}, and the folder is read for {self.tenant!r}; "
                "correct the file, or read it for the other tenant",
            )
        named: dict[str, Any] = {
            "id": id_of(file, folder_name),
            "version": sha256(raw).hexdigest()[:_VERSION_CHARS],
            "tenant": self.default_tenant,
            "acl": list(self.acl),
            "authority": _AUTHORITY,
            **found.says,
        }
        if "id" not in given and len(named["id"]) > MAX_ID_CHARS:
            got = f"its path makes an id of {len(named['id'])} characters, at most {MAX_ID_CHARS}"
            raise BrokenDocument(file, f"{got}; shorten the path, or give the file an id in front matter")
        document = described(file, found.text, {**named, **given}, found.body_start, by_place="id" not in given)
        if not self.allows(document.front.tenant, document.front.acl):
            raise BrokenDocument(
                file,
                f"acl: the file says {list(document.front.acl)}, and only {list(self.acl)} may read what this folder "
                "brings; narrow the file's acl, or leave it out",
            )
        return document


def folder_of(origin: str) -> Path:
    """The folder behind an origin: one that was read from outside, or the domain's own corpus."""
    if not origin.startswith(_SCHEME):
        return Path(origin)
    return Path("/" + origin.removeprefix(_SCHEME).partition("/")[2])


def tenant_of(origin: str) -> str | None:
    """The tenant a folder was read for; None for the domain's own corpus, whose files say it."""
    return unquote(origin.removeprefix(_SCHEME).partition("/")[0]) if origin.startswith(_SCHEME) else None


def id_of(file: str, folder_name: str) -> str:
    """The id of a file that gives none: its path without suffix below the folder's name, in the letters an id may have.

    Accents are folded and other characters become dashes. A name that this changes beyond accents and blanks, such as
    one in Chinese, gets a mark of its hash, so that two of them stay apart.
    """
    path = PurePosixPath(folder_name) / PurePosixPath(file).with_suffix("")
    return "/".join(_plain(part) for part in path.parts if part != "/") or "document"


def _plain(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name)
    folded = "".join(c for c in decomposed if not unicodedata.combining(c))
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", folded).strip("-._")
    if plain and folded.isascii():
        return plain
    mark = sha256(unicodedata.normalize("NFC", name).encode(errors="surrogateescape")).hexdigest()[:_MARK_CHARS]
    return f"{plain}-{mark}" if plain else f"n-{mark}"
