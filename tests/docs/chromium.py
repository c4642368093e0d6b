"""A headless Chromium, driven by its own debugging protocol over a pair of pipes."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
# 3 and 4 are the descriptors on which Chromium reads commands and writes answers.
START = ["bash", "-c", 'exec "${@:3}" 3<&"$1" 4>&"$2"', "-"]
FLAGS = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
]
PATIENCE_SECONDS = 300.0


def find_browser() -> str | None:
    """The path of an installed Chromium; ``None`` if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def opened_browser(profile: Path) -> Iterator[Browser]:
    """A browser, for a fixture. Without Chromium, its tests are skipped."""
    program = find_browser()
    if program is None:
        pytest.skip("Chromium is not installed (for example: apt-get install chromium)")
    browser = Browser(program, profile)
    yield browser
    browser.close()


class Browser:
    """One tab. It records the requests and the console errors of the page that is open."""

    requests: list[str]
    errors: list[str]

    def __init__(self, program: str, profile: Path) -> None:
        """Start the program with an empty profile and open a blank page."""
        self.requests, self.errors = [], []
        self._last = 0
        (its_input, commands), (answers, its_output) = _pipe(), _pipe()
        self._commands, self._answers = os.fdopen(commands, "wb"), os.fdopen(answers, "rb")
        # Chromium's sandbox does not work for root, as in a container.
        flags = [*FLAGS, f"--user-data-dir={profile}", *["--no-sandbox"] * (os.geteuid() == 0)]
        self._process = subprocess.Popen(
            [*START, str(its_input), str(its_output), program, *flags],
            pass_fds=(its_input, its_output),
            stderr=subprocess.DEVNULL,
        )
        os.close(its_input)
        os.close(its_output)
        self._session = ""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Run a command of the protocol and return its result.

        Raises:
            RuntimeError: if the browser refuses the command or ends.
        """
        self._last += 1
        command: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        self._commands.write(json.dumps(command).encode() + b"\0")
        self._commands.flush()
        while (message := self._receive()).get("id") != self._last:
            self._note(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        result: dict[str, Any] = message["result"]
        return result

    def open(self, url: str) -> None:
        """Forget the last page, load another one and wait until it is complete."""
        self.requests.clear()
        self.errors.clear()
        self.send("Page.navigate", url=url)
        self.wait_for(f"location.href.startsWith({json.dumps(url)})")
        self.wait_for("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until a JavaScript expression is true.

        Raises:
            TimeoutError: if it stays false.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{expression} stays false")
            time.sleep(0.05)

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        self._commands.close()
        self._answers.close()

    def _receive(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("the browser ended")
            text += byte
        message: dict[str, Any] = json.loads(text)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        details = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(details["request"]["url"])
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(details["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if details["type"] in {"error", "assert"}:
                self.errors.append(json.dumps(details["args"]))
            case "Log.entryAdded" if details["entry"]["level"] == "error":
                self.errors.append(json.dumps(details["entry"]))


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are above 9: the shell sets 3 and 4, so no end may have these numbers."""
    low = os.pipe()
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low)
    for end in low:
        os.close(end)
    return read, write
