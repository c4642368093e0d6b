"""The command ``spark-kinesis``, also ``python -m spark_kinesis``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run a command. Returns its exit code."""
    try:
        from .tools.cli import run  # noqa: PLC0415 needs optional packages
    except ImportError as error:
        if error.name not in ("click", "rich"):
            raise
        print(  # noqa: T201 a command prints
            f"spark-kinesis needs {error.name}: pip install 'spark-kinesis[cli]'", file=sys.stderr
        )
        return 2
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
