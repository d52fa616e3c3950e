import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import io.a2a.util.Utils;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A webhook on a free port of this machine. */
final class Webhook implements AutoCloseable {
    record Received(Headers headers, JsonNode body) {}

    private final BlockingQueue<Received> queue = new LinkedBlockingQueue<>();
    private final HttpServer server;

    Webhook() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/webhook", exchange -> {
            JsonNode body = Utils.OBJECT_MAPPER.readTree(exchange.getRequestBody());
            queue.add(new Received(exchange.getRequestHeaders(), body));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/webhook";
    }

    /** Returns what came, up to the first that {@code wanted} holds of. */
    List<Received> until(Predicate<JsonNode> wanted) throws InterruptedException {
        var all = new ArrayList<Received>();
        do {
            Received next = queue.poll(Main.SECONDS_PER_OPERATION, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError("nothing came any more, after " + all);
            }
            all.add(next);
        } while (!wanted.test(all.get(all.size() - 1).body()));
        return all;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
