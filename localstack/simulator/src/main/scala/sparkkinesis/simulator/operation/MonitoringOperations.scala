package sparkkinesis.simulator.operation

import java.time.Instant

import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.state.{Failure, ShardMetric, State}

/** @param metrics at least one, to be measured in addition */
final case class EnableEnhancedMonitoring(stream: StreamArn, metrics: Seq[ShardMetric])
    extends Changing[MonitoringUpdate] {
  override def change(state: State, now: Instant): Either[Failure, (State, MonitoringUpdate)] =
    Monitoring.change(state, stream, now)(current => current.toSet ++ metrics)
}

/** @param metrics at least one, which is no longer measured */
final case class DisableEnhancedMonitoring(stream: StreamArn, metrics: Seq[ShardMetric])
    extends Changing[MonitoringUpdate] {
  override def change(state: State, now: Instant): Either[Failure, (State, MonitoringUpdate)] =
    Monitoring.change(state, stream, now)(current => current.toSet -- metrics)
}

/** The metrics before and after. */
final case class MonitoringUpdate(
    stream: StreamArn,
    current: Seq[ShardMetric],
    desired: Seq[ShardMetric]
)

private[simulator] object Monitoring {
  def change(state: State, stream: StreamArn, now: Instant)(
      next: Seq[ShardMetric] => Set[ShardMetric]
  ): Either[Failure, (State, MonitoringUpdate)] =
    state.changeable(stream, now).map { found =>
      val current = found.config.metrics
      val desired = ShardMetric.All.filter(next(current))
      (
        state.reconfigured(found, now)(_.copy(metrics = desired)),
        MonitoringUpdate(stream, current, desired)
      )
    }
}
