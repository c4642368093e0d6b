"""What the command lines share: the list of commands, and how each is parsed, shown and ended.

Each command is in the folder or file of its subject, and is imported when it runs.
"""

from __future__ import annotations

from .commands import run as run
from .connection import Connection as Connection
from .connection import connection_options as connection_options
from .connection import storage_option as storage_option
from .output import json_option as json_option
from .output import print_json as print_json
from .output import progress_bar as progress_bar
from .output import screen as screen
from .output import to_stderr as to_stderr
from .values import DURATION as DURATION
from .values import FORMS as FORMS
from .values import SOURCE as SOURCE
from .values import TIME as TIME
from .values import Value as Value
from .values import read_duration as read_duration
from .values import read_time as read_time
