"""Is there what the demo needs? Imports nothing of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

MODULES = ("pyspark", "boto3", "rich")
OLDEST_JAVA, NEWEST_JAVA = 17, 23  # as every supported Spark runs on
NEEDED = f"the demo needs Java {OLDEST_JAVA} to {NEWEST_JAVA}"


def missing() -> str | None:
    """What is missing and how to get it; ``None`` when nothing is."""
    modules = [name for name in MODULES if find_spec(name) is None]
    if modules:
        return f"the demo needs {', '.join(modules)}: pip install 'spark-kinesis[demo]'"
    return missing_java()


def missing_java() -> str | None:
    """The same for Java, looked for where Spark looks."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(str(Path(home) / "bin" / "java") if home else "java")
    if java is None:
        where = f"JAVA_HOME is {home!r}, which has none" if home else "there is none on the PATH"
        return f"{NEEDED}, and {where}: install a JDK, set JAVA_HOME"
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is not None and not OLDEST_JAVA <= int(found[1]) <= NEWEST_JAVA:
        return f"{NEEDED}, and {java} is Java {found[1]}: install a JDK, set JAVA_HOME"
    return None
