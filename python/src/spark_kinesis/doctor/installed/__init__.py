"""Is the right software here: Python, Java, Spark, Scala, and the connector's jar?"""

from __future__ import annotations

from .environment import find_installed
from .facts import Installed, Jar
from .findings import installed_findings

__all__ = ["Installed", "Jar", "find_installed", "installed_findings"]
