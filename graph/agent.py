"""What a LangGraph server serves: the graph without a saver, since the server brings its own (H24)."""

from graph.app import open_app
from graph.leased import SERVED_WAIT_S
from graph.masking import install
from graph.settings import Settings

install()
settings = Settings.load()
# With a key for tokens nobody acts whom graph/auth.py has not let in, also where langgraph.json forgot to name it.
app = open_app(settings, only_authenticated=settings.auth_key is not None)
graph = app.drawing.compile(name="expediente")
graph.wait_s = SERVED_WAIT_S
