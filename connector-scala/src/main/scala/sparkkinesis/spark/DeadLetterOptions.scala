package sparkkinesis.spark

import java.io.IOException
import java.util.Locale

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.util.SerializableConfiguration

import sparkkinesis.client.{OptionException, Options}

/** The options that say where bad rows are kept. */
private[spark] object DeadLetterOptions {
  val Names: Seq[String] = Seq("deadLetterPath", "deadLetterFormat")

  /**
   * Where bad rows go, if they are to be kept. Looks at the words only: no file system is asked.
   *
   * @param conf the session's
   * @throws OptionException where a value is wrong
   */
  def parse(
      options: Options,
      queryId: String,
      conf: => Configuration
  ): Option[DeadLetterFolder] = {
    val format = this.format(options)
    if (options.contains("deadLetterFormat") && !options.contains("deadLetterPath"))
      throw OptionException.missing(
        "Option 'deadLetterFormat' is given without 'deadLetterPath'. " +
          "Name the folder that bad rows are kept in, or leave it out."
      )
    options.text("deadLetterPath").map { text =>
      val its = conf
      val path = qualified(options, text, its)
      DeadLetterFolder(path, format, queryId, new SerializableConfiguration(its))
    }
  }

  private def format(options: Options): DeadLetterFormat =
    options.text("deadLetterFormat").fold[DeadLetterFormat](DeadLetterFormat.Json) { name =>
      DeadLetterFormat.All.find(_.name == name.toLowerCase(Locale.ROOT)).getOrElse {
        throw options.invalid("deadLetterFormat", "json or parquet", "Say one of the two.")
      }
    }

  /** With file system and folder, which executors might else understand otherwise. */
  private def qualified(options: Options, text: String, conf: Configuration): String =
    try {
      val path = new Path(text)
      if (Option(path.toUri.getUserInfo).exists(_.contains(':')))
        throw new OptionException(
          OptionException.InvalidOption,
          "Option 'deadLetterPath' holds a password: expected a path without one. " +
            "Give credentials in the Hadoop configuration."
        )
      path.getFileSystem(conf).makeQualified(path).toString
    } catch {
      case e @ (_: IOException | _: IllegalArgumentException) if !e.isInstanceOf[OptionException] =>
        throw options.invalid(
          "deadLetterPath",
          s"a folder on a file system that Spark knows (${e.getMessage})",
          "Mend it, or add the file system's jar to Spark."
        )
    }
}
