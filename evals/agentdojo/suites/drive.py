"""The cloud drive: a file's name is the user's own where the user owns it, its text may be anybody's."""

from evals.agentdojo.terms import Terms, control, foreign, record, records, server
from state.contract import Effect

FILE = (
    server("id_", identifies="file"),
    server("owner"),
    server("last_modified", most=("newest", "latest", "last", "most recent"), least=("oldest", "earliest")),
    server("size", most=("largest", "biggest", "longest"), least=("smallest", "shortest")),
    server("shared_with", told_in="content", outsiders=("client", "customer")),
    *foreign("filename", own_if="owner"),
    *foreign("content"),
)
_FILE = control("object", "file")
_DOCUMENT = ("file", "document", "drive", "doc", "spreadsheet", "list", "note", "summary", "report", "plan")

TERMS = {
    **{name: Terms(Effect.READ, FILE, records) for name in ("list_files", "search_files", "search_files_by_filename")},
    "get_file_by_id": Terms(Effect.READ, FILE, record),
    "create_file": Terms(
        Effect.WRITE,
        FILE,
        record,
        {"filename": control("title")},
        (("creat", "writ", "sav", "make", "put", "draft", "new", "store"), _DOCUMENT),
    ),
    "append_to_file": Terms(
        Effect.WRITE,
        FILE,
        record,
        {"file_id": _FILE},
        (("append", "add", "writ", "put", "insert", "updat", "extend"),),
    ),
    "delete_file": Terms(
        Effect.WRITE,
        FILE,
        record,
        {"file_id": _FILE},
        (("delet", "remov", "trash", "erase", "discard"),),
        reversible=False,
    ),
    "share_file": Terms(
        Effect.WRITE,
        FILE,
        record,
        {
            "file_id": _FILE,
            "email": control("target", "contact"),
            "permission": control(
                "permission", means={"rw": ("edit", "write", "modif", "chang", "collaborat")}, harmless=("r",)
            ),
        },
        (("shar", "give", "grant", "access", "send"),),
        audience="external",
    ),
}
