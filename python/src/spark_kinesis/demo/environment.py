"""A check for what the demo needs, without importing it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

MODULES = ("pyspark", "boto3", "rich")
OLDEST_JAVA, NEWEST_JAVA = 17, 23  # all supported versions of Spark run on these
NEEDED = f"the demo needs Java {OLDEST_JAVA} to {NEWEST_JAVA}"


def missing() -> str | None:
    """What is missing and how to install it, or ``None``."""
    modules = [name for name in MODULES if find_spec(name) is None]
    if modules:
        return f"the demo needs {', '.join(modules)}: pip install 'spark-kinesis[demo]'"
    return missing_java()


def missing_java() -> str | None:
    """What is wrong with Java, in ``JAVA_HOME`` or on the ``PATH``, where Spark looks for it."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(str(Path(home) / "bin" / "java") if home else "java")
    if java is None:
        where = (
            f"JAVA_HOME is {home!r}, which has no Java" if home else "there is no java on the PATH"
        )
        return f"{NEEDED}, and {where}: install a JDK and set JAVA_HOME"
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', output)
    if found is not None and not OLDEST_JAVA <= int(found[1]) <= NEWEST_JAVA:
        return f"{NEEDED}, and {java} is Java {found[1]}: install a JDK and set JAVA_HOME"
    return None
