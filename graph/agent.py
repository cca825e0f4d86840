"""What a LangGraph server serves: the graph without a saver, since the server brings its own (H24)."""

from graph.app import open_app

app = open_app()
graph = app.drawing.compile(name="expediente")
