package sparkkinesis.shard

import java.lang.management.ManagementFactory
import java.util.concurrent.{CompletableFuture, Future => JFuture}
import java.util.{Map => JMap}
import javax.management.{InstanceAlreadyExistsException, ObjectName, StandardMBean}

/**
 * Maps that all class loaders of this JVM share: the platform's MBean server keeps each under a
 * name. Isolated sessions of Spark Connect load the connector with a class loader each. All classes
 * in such a map must be the JDK's, so that it keeps no class loader alive.
 */
private[sparkkinesis] object SharedMap {

  /** @return the map of this name, which is `first` if there was none */
  def ofJvm[M <: JMap[_, _]](name: String, first: M): M = {
    val server = ManagementFactory.getPlatformMBeanServer
    val key = new ObjectName(s"sparkkinesis:type=$name,version=1")
    val holder = CompletableFuture.completedFuture[M](first)
    try
      server.registerMBean(
        new StandardMBean(holder, classOf[JFuture[_]].asInstanceOf[Class[JFuture[M]]], false),
        key
      )
    catch { case _: InstanceAlreadyExistsException => () } // another class loader was first
    server.invoke(key, "get", Array.empty, Array.empty).asInstanceOf[M]
  }
}
