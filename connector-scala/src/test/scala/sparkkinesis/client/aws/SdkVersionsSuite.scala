package sparkkinesis.client.aws

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

/** The modules of the AWS SDK belong together: they have one version. */
class SdkVersionsSuite extends AnyFunSuite {

  /** A class of each module that a client loads. */
  private val classes = Seq(
    "services.kinesis.KinesisClient",
    "services.sts.StsClient",
    "services.sso.SsoClient",
    "services.ssooidc.SsoOidcClient",
    "http.apache5.Apache5HttpClient",
    "http.nio.netty.NettyNioAsyncHttpClient",
    "http.SdkHttpClient",
    "awscore.client.builder.AwsClientBuilder",
    "core.SdkClient",
    "auth.credentials.DefaultCredentialsProvider",
    "profiles.ProfileFile",
    "regions.Region",
    "protocols.cbor.AwsCborProtocolFactory",
    "utils.SdkAutoCloseable"
  )

  /** The name and the version of a module, from the name of its jar. */
  private def module(name: String): (String, String) = {
    val jar = Class
      .forName(s"software.amazon.awssdk.$name", false, getClass.getClassLoader)
      .getProtectionDomain
      .getCodeSource
      .getLocation
    val file = Path.of(jar.toURI).getFileName.toString.stripSuffix(".jar")
    val dash = file.lastIndexOf('-')
    file.take(dash) -> file.drop(dash + 1)
  }

  test("all modules have one version, except those of IAM Identity Center") {
    val modules = classes.map(module).toMap
    assert(modules.size === classes.size)
    val others = modules.filter { case (_, version) => version != modules("kinesis") }
    // If this fails because the versions are equal, remove the exception in Dependencies.scala.
    assert(others.keySet === Set("sso", "ssooidc"))
    assert(others.values.toSet.size === 1)
  }
}
