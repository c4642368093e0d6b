"""What a refused or failed call means, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_kinesis import SparkKinesisError
from spark_kinesis._boto import TRANSIENT, answer_of, aws_errors, code_of

if TYPE_CHECKING:
    from .finding import Finding, Section

_RENEW = "Renew the credentials, for example with aws sso login, and check the clock."
_ALLOW = "Allow {action} in the policy of the credentials: see docs/how-to/iam.md."
_INVALID = "Correct the name or the ARN."
_REMEDIES = {
    "AccessDeniedException": _ALLOW,
    "AccessDenied": _ALLOW,
    "ResourceNotFoundException": "Check the name, the region, and the account of the credentials.",
    "ExpiredTokenException": _RENEW,
    "ExpiredToken": _RENEW,
    "ParamValidationError": _INVALID,
    "InvalidArgumentException": _INVALID,
    "ValidationException": _INVALID,
    "RequestExpired": "Set the clock of this machine.",
    "UnrecognizedClientException": "AWS does not know the access key. Check the credentials.",
    "InvalidClientTokenId": "AWS does not know the access key. Check the credentials.",
    "InvalidSignatureException": "Check the secret access key, and the clock of this machine.",
    "SignatureDoesNotMatch": "Check the secret access key, and the clock of this machine.",
    "KMSAccessDeniedException": "Allow kms:Decrypt on the key of the stream, and check the policy "
    "of the key.",
    "KMSDisabledException": "Enable the key of the stream in AWS KMS.",
    "KMSInvalidStateException": "Make the key of the stream usable in AWS KMS: it may be pending "
    "deletion.",
    "KMSNotFoundException": "Encrypt the stream with a key that exists.",
    "KMSOptInRequired": "Subscribe the account to AWS KMS.",
}
_UNREACHABLE = "Check the findings of the section network, the endpoint and the region."
_NO_CREDENTIALS = "Set credentials: see docs/how-to/iam.md."


def call_errors(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """What a call of AWS raises, and other errors, for a clause ``except``."""
    return *aws_errors(), SparkKinesisError, *others


def text_of(error: Exception) -> str:
    """The service's name and text of an error. Other errors have a text only."""
    found = answer_of(error)
    return f"{found['Code']}: {found.get('Message', '')}" if "Code" in found else str(error)


def is_denied(error: Exception) -> bool:
    """Whether a permission is missing."""
    return code_of(error) in ("AccessDeniedException", "AccessDenied", "UnauthorizedOperation")


def refused(section: Section, subject: str, error: Exception, action: str) -> Finding:
    """The finding for a call that failed.

    Args:
        section: the part of the set-up.
        subject: the fact that the call would have shown.
        error: the error of boto3.
        action: IAM action of the call, such as ``kinesis:ListShards``.
    """
    code = code_of(error)
    text = f"{action} failed: {text_of(error)}"
    if code in TRANSIENT:
        return section.unknown(subject, text, "Try again later.")
    if code in _REMEDIES:
        return section.problem(subject, text, _REMEDIES[code].format(action=action))
    if "Credential" in code or "Token" in code or "SSO" in code:
        return section.problem(subject, text, _NO_CREDENTIALS)
    if not answer_of(error):
        return section.problem(subject, text, _UNREACHABLE)
    return section.problem(subject, text, "Look up the error in the reference of Kinesis.")


def stopped(section: Section, subject: str, error: Exception) -> Finding:
    """The finding for an error that ends a check."""
    if isinstance(error, SparkKinesisError):
        return section.problem(subject, str(error), "Correct this first. The other facts need it.")
    operation = getattr(error, "operation_name", None) or "DescribeStreamSummary"
    return refused(section, subject, error, f"kinesis:{operation}")
