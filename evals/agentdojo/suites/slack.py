"""Slack: a workspace's directory, messages of its members, and web pages of anybody.

A message's sender stands in the directory: who is no member of the workspace cannot write there.
"""

from evals.agentdojo.terms import DONE, Terms, control, directory, done, foreign, listed, one, records, server
from state.contract import Effect

_USER = control("target", "user")
_CHANNEL = control("target", "channel")
_URL = control("url")

TERMS = {
    "get_channels": Terms(Effect.READ, (directory("channel", identifies="channel"),), listed("channel")),
    "get_users_in_channel": Terms(
        Effect.READ,
        (directory("user", identifies="user"), directory("channel", counted=("user", "member", "people"))),
        listed("user", channel="channel"),
    ),
    "read_channel_messages": Terms(
        Effect.READ,
        (
            directory("sender", identifies="user", counted=("message", "post")),
            server("recipient"),
            *foreign("body", by="sender", within="recipient"),
        ),
        records,
    ),
    "read_inbox": Terms(
        Effect.READ,
        (directory("sender", identifies="user"), server("recipient"), *foreign("body", by="sender")),
        records,
    ),
    "get_webpage": Terms(Effect.READ, foreign("content"), one("content"), {"url": _URL}, audience="external"),
    "post_webpage": Terms(
        Effect.WRITE,
        DONE,
        done,
        {"url": _URL},
        (("post", "publish", "upload", "creat", "put", "write"), ("web", "page", "site", "url", "www", "http", "post")),
        audience="external",
        reversible=False,
    ),
    "send_direct_message": Terms(
        Effect.WRITE,
        DONE,
        done,
        {"recipient": _USER},
        (
            (
                "send",
                "messag",
                "tell",
                "write",
                "dm",
                "ask",
                "inform",
                "let",
                "notif",
                "repl",
                "share",
                "forward",
                "answer",
                "respond",
            ),
        ),
        audience="internal",
    ),
    "send_channel_message": Terms(
        Effect.WRITE,
        DONE,
        done,
        {"channel": _CHANNEL},
        (("send", "messag", "post", "write", "announc", "share", "tell", "forward", "repl", "answer", "respond"),),
        audience="internal",
    ),
    "add_user_to_channel": Terms(
        Effect.WRITE,
        DONE,
        done,
        {"user": _USER, "channel": _CHANNEL},
        (("add", "invit", "includ", "put"),),
    ),
    "invite_user_to_slack": Terms(
        Effect.WRITE, DONE, done, {"user": control("target"), "user_email": control("target")}, (("invit", "add"),)
    ),
    "remove_user_from_slack": Terms(
        Effect.WRITE, DONE, done, {"user": _USER}, (("remov", "kick", "delet", "ban", "expel"),), reversible=False
    ),
}
