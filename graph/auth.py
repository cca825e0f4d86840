"""Authentication for a server, off until langgraph.json names it:

    "auth": {"path": "./graph/auth.py:auth", "disable_studio_auth": true},
    "http": {"app": "./graph/auth.py:approvals", "disable_mcp": true, "disable_a2a": true, "disable_store": true}

It needs EXPEDIENTE_AUTH_KEY; `agent token` issues tokens. To accept those of your own identity provider, replace
`graph.access_token.read_token`: its law is to return a principal's name or to raise TokenRefused.
"""

from graph.app import open_identity
from graph.approvals import make_approvals
from graph.doorkeeper import Doorkeeper, make_auth
from graph.masking import install, learn
from graph.master_secret import master_secret
from graph.seal import HmacSeal
from graph.settings import Settings
from graph.stores.engine import open_database
from graph.stores.ledger import SqlLedger
from graph.stores.records import SqlDecisionLog

install()
settings = Settings.load()
learn(settings.all_secrets)
door = Doorkeeper(settings, open_identity(settings))
auth = make_auth(door)
seal = HmacSeal(master_secret(settings).keys("seal"))
database = open_database(settings.database, seal=seal)
approvals = make_approvals(door, SqlLedger(database.durable, seal), SqlDecisionLog(database.everyday))
