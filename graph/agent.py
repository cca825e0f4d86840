"""What a LangGraph server serves: the graph without a saver, since the server brings its own (H24)."""

from graph.app import open_app

app = open_app()
# A server's default limit would let a loop go on for ten thousand steps; ours follows the policy's bound.
graph = app.drawing.compile(name="expediente").with_config(recursion_limit=app.step_limit)
