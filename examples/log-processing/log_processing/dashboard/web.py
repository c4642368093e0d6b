"""The web application: one page, its figures as JSON, and plotly's JavaScript."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

import plotly  # type: ignore[import-untyped]
from flask import Flask, Response, jsonify, render_template, send_file

from .figures import figures
from .state import EMPTY, state

if TYPE_CHECKING:
    from .feed import BatchFeed

PLOTLY_SCRIPT = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
ONE_DAY_SECONDS = 86_400
# Scripts and figures come from this server alone: a log message cannot run or send anything.
# plotly sets styles of its own in the page.
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; style-src 'self' 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def create_app(feed: BatchFeed, *, clock: Callable[[], float] = time.time) -> Flask:
    """The application.

    Args:
        feed: the batches of the job.
        clock: returns seconds since 1970.
    """
    app = Flask(__name__)

    @app.get("/")
    def page() -> str:
        return render_template("page.html", job=feed.job, table=feed.table)

    @app.get("/plotly.min.js")
    def plotly_script() -> Response:
        return send_file(PLOTLY_SCRIPT, mimetype="text/javascript", max_age=ONE_DAY_SECONDS)

    @app.get("/figures.json")
    def figures_json() -> Response:
        return jsonify(answer(feed, now=clock()))

    @app.after_request
    def add_security_headers(response: Response) -> Response:
        response.headers.update(SECURITY_HEADERS)
        if "Cache-Control" not in response.headers:
            response.headers["Cache-Control"] = "no-store"
        return response

    return app


def answer(feed: BatchFeed, *, now: float) -> dict[str, Any]:
    """What the page asks for every second."""
    reading = feed.read()
    current = state(reading.batches, now=now, failure=reading.failure)
    found: dict[str, Any] = {"state": current.name, "words": current.words, "figures": None}
    if current.name == EMPTY:
        found["advice"] = (
            f"Table '{feed.table}' has no batch of job '{feed.job}' from the last day. Start the "
            "job, or check the name of the table and of the job. This page shows the first batch "
            "as soon as it is stored."
        )
    if reading.batches:
        found["figures"] = figures(reading.batches, now=int(now * 1000))
    return found
