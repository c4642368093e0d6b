package sparkkinesis.simulator.server

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.concurrent.duration._

import org.testcontainers.containers.GenericContainer
import org.testcontainers.containers.wait.strategy.Wait
import org.testcontainers.utility.DockerImageName

import sparkkinesis.Repository

/** A running LocalStack of the image that `localstack/docker-compose.yml` names. */
final class LocalStack private (container: GenericContainer[_]) extends AutoCloseable {
  val endpoint: URI =
    URI.create(s"http://${container.getHost}:${container.getMappedPort(LocalStack.Port)}")

  override def close(): Unit = container.stop()
}

object LocalStack {
  private val Port: Integer = 4566
  private val Image = "(?m)^\\s*image:\\s*(\\S+)\\s*$".r
  private val Compose = "localstack/docker-compose.yml"

  /** The first start downloads the image. */
  private val StartTimeout = 5.minutes

  def start(): LocalStack = {
    val container: GenericContainer[_] = new GenericContainer(DockerImageName.parse(image))
    container.withExposedPorts(Port)
    container.withEnv("SERVICES", "kinesis")
    container.waitingFor(
      Wait
        .forHttp("/_localstack/health")
        .forPort(Port)
        .withStartupTimeout(java.time.Duration.ofSeconds(StartTimeout.toSeconds))
    )
    container.start()
    new LocalStack(container)
  }

  private def image: String = {
    val compose = new String(Files.readAllBytes(Repository.root.resolve(Compose)), UTF_8)
    Image
      .findFirstMatchIn(compose)
      .map(_.group(1))
      .getOrElse(throw new IllegalStateException(s"$Compose names no image."))
  }
}
