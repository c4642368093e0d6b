"""The command ``spark-kinesis``, also ``python -m spark_kinesis``."""

from __future__ import annotations

import sys

from ._extras import CLI


def main() -> int:
    """Run a command. Returns its exit code."""
    try:
        from .tools.cli import run  # noqa: PLC0415 needs optional packages
    except ImportError as error:
        if error.name not in ("click", "rich"):
            raise
        message = f"spark-kinesis needs {error.name}: pip install {CLI}"
        print(message, file=sys.stderr)  # noqa: T201 a command prints
        return 2
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
