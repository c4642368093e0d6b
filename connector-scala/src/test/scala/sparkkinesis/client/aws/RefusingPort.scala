package sparkkinesis.client.aws

import java.net.{InetAddress, InetSocketAddress, Socket}

/** A port that refuses connections and that nobody else can take: it is bound and not listening. */
object RefusingPort {
  def using[A](use: Int => A): A = {
    val holder = new Socket
    try {
      holder.bind(new InetSocketAddress(InetAddress.getLoopbackAddress, 0))
      use(holder.getLocalPort)
    } finally holder.close()
  }
}
