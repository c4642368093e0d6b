"""The tools around a query, which the command ``spark-kinesis`` runs.

They need the packages of the extra ``[cli]``.

Each command is a function first, so that notebooks and platforms without a shell can use it. The
package ``cli`` has what their command lines share, and ``facts`` what they know of streams and
checkpoints.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MissingPackageError
from spark_kinesis._extras import CLI

if TYPE_CHECKING:
    from .advising import advise as advise
    from .auditing import audit as audit
    from .examination import doctor as doctor
    from .generating import generate as generate
    from .handover import hand_back as hand_back
    from .handover import take_over as take_over
    from .history import batches as batches
    from .rewinding import rewind as rewind
    from .tailing import tail as tail
    from .top import look as look

# The functions, and the modules that are imported when a function is first used.
_FUNCTIONS = {
    "advise": "advising",
    "audit": "auditing",
    "batches": "history",
    "doctor": "examination",
    "generate": "generating",
    "hand_back": "handover",
    "look": "top",
    "rewind": "rewinding",
    "tail": "tailing",
    "take_over": "handover",
}

__all__ = list(_FUNCTIONS)


def __getattr__(name: str) -> Any:
    """A function of this package, imported when it is needed."""
    if name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_FUNCTIONS[name]}")
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"spark_kinesis.tools needs {error.name}: pip install {CLI}"
        ) from error
    return getattr(module, name)
