"""How the examination calls AWS: as whom, at which endpoint, and what a refusal means."""

from __future__ import annotations

from .access import Access
from .clock import ServerClock
from .refusals import code_of, is_denied, is_from_aws, refused, text_of

__all__ = ["Access", "ServerClock", "code_of", "is_denied", "is_from_aws", "refused", "text_of"]
