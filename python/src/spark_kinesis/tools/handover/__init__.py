"""Takes streams over from another consumer, and hands them back to the KCL.

The commands are those of ``spark-kinesis migrate``.
"""

from __future__ import annotations

from .handing_back import HandOver as HandOver
from .handing_back import hand_back as hand_back
from .leases import Lease as Lease
from .leases import NewLease as NewLease
from .leases import kcl_stops as kcl_stops
from .leases import scan_leases as scan_leases
from .positions import Stop as Stop
from .positions import Stops as Stops
from .positions import ends_in_dynamodb as ends_in_dynamodb
from .positions import ends_in_files as ends_in_files
from .positions import read_stops as read_stops
from .takeover import TakeOver as TakeOver
from .takeover import take_over as take_over
