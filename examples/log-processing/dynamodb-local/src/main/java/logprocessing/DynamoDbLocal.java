package logprocessing;

import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandler;

/**
 * Runs DynamoDB Local in memory on a free port of 127.0.0.1, until its standard input ends.
 *
 * <p>Amazon's own launcher listens on all interfaces of the machine, and sends telemetry unless it
 * is told not to. This one has neither.
 */
public final class DynamoDbLocal {
  private DynamoDbLocal() {}

  public static void main(String[] args) throws Exception {
    var requests = new LocalDynamoDBRequestHandler(0, true, null, true, false);
    var context = new ContextHandler();
    context.setHandler(new LocalDynamoDBServerHandler(requests, null));
    var server = new Server();
    var connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    server.setHandler(context);
    server.start();
    System.out.println("listening on http://127.0.0.1:" + connector.getLocalPort());
    while (System.in.read() >= 0) {}
    // Threads of SQLite do not end by themselves.
    System.exit(0);
  }
}
