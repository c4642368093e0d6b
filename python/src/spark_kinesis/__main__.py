"""The command ``spark-kinesis``, also ``python -m spark_kinesis``."""

from __future__ import annotations

import sys

from ._extras import CLI


def main() -> int:
    """Run a command. Returns its exit code."""
    try:
        from .tools.cli import run  # noqa: PLC0415 needs optional packages
    except ImportError as error:
        is_missing = error.name in ("click", "rich")
        message = f"spark-kinesis needs {error.name}: pip install {CLI}"
        print(message if is_missing else f"spark-kinesis: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
