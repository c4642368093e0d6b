"""How the examination calls AWS: as whom, at which endpoint, and what a refusal means."""

from __future__ import annotations

from .access import Access, account_of
from .refusals import code_of, is_denied, refused, text_of

__all__ = ["Access", "account_of", "code_of", "is_denied", "refused", "text_of"]
