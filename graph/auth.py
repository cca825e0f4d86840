"""Authentication for a server, off until langgraph.json names it:

    "auth": {"path": "./graph/auth.py:auth", "disable_studio_auth": true},
    "http": {"disable_mcp": true, "disable_a2a": true, "disable_store": true}

It needs EXPEDIENTE_AUTH_KEY; `agent token` issues tokens. To accept those of your own identity provider, replace
`graph.access_token.read_token`: its law is to return a principal's name or to raise TokenRefused.
"""

from graph.app import open_identity
from graph.doorkeeper import Doorkeeper, make_auth
from graph.settings import Settings

settings = Settings.load()
auth = make_auth(Doorkeeper(settings, open_identity(settings)))
