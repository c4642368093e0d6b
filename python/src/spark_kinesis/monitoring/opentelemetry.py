"""OpenTelemetry reads the numbers when it exports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from spark_kinesis._errors import MissingPackageError

from .newest import NewestSamples
from .samples import Kind, Sample

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

PREFIX = "spark_kinesis."


class OpenTelemetryMetrics(NewestSamples):
    """An exporter for OpenTelemetry. The names begin with ``spark_kinesis.``."""

    def __init__(self, meter: Meter | None = None) -> None:
        """Use a meter.

        Args:
            meter: the meter; default: one of the global provider with the name ``spark_kinesis``.

        Raises:
            MissingPackageError: if ``opentelemetry-api`` is not installed.
        """
        try:
            from opentelemetry import metrics  # noqa: PLC0415 optional
        except ImportError as error:
            raise MissingPackageError(
                "OpenTelemetryMetrics needs opentelemetry-api: pip install opentelemetry-sdk"
            ) from error
        super().__init__()
        self._meter = meter or metrics.get_meter("spark_kinesis")
        self._known: set[str] = set()

    def update(self, run: str, samples: Sequence[Sample], time_ms: int) -> None:
        """Replace the numbers of a run."""
        super().update(run, samples, time_ms)
        for sample in samples:
            if sample.name not in self._known:
                self._known.add(sample.name)
                self._create(sample)

    def _create(self, sample: Sample) -> None:
        make = (
            self._meter.create_observable_counter
            if sample.kind is Kind.COUNTER
            else self._meter.create_observable_gauge
        )
        make(PREFIX + sample.name, callbacks=[self._observe(sample.name)])

    def _observe(self, name: str) -> Callable[[Any], Iterable[Any]]:
        from opentelemetry.metrics import Observation  # noqa: PLC0415

        def observe(_: Any) -> Iterable[Any]:
            found = [it for it in self.samples() if it.name == name]
            return [Observation(it.value, dict(it.labels)) for it in found]

        return observe
