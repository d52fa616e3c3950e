package dev.parley.server;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.Json;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.protocol.Feed;
import io.helidon.webserver.WebServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What to measure this module against. {@code bare} is Helidon alone on port 7431, which parses the JSON posted to {@code
 * /echo} and sends it back. {@code ours}, on port 7432, does the same at the same path, answers the same JSON as a message
 * to an agent at {@code /agents/ping}, and keeps a quiet event stream open at {@code /idle}.
 */
final class EchoMain {
    private EchoMain() {}

    public static void main(String... args) {
        if (args[0].equals("bare")) {
            var web = WebServer.builder()
                    .host("127.0.0.1")
                    .port(7431)
                    .connectionOptions(options -> options.tcpNoDelay(true))
                    .routing(routing -> routing.post("/echo", (request, response) -> {
                        response.header("Content-Type", "application/json");
                        response.send(echo(request.content().as(byte[].class)));
                    }))
                    .build()
                    .start();
            System.out.println("bare: " + web.port());
        } else {
            var server = Server.builder(new Dialects(DialectSettings.DEFAULTS))
                    .port(7432)
                    .handler(
                            "/echo",
                            (request, body) -> new WireAnswer.Whole(
                                    200, Map.of("Content-Type", "application/json"), echo(body.read())))
                    .handler(
                            "/idle",
                            (request, body) ->
                                    new WireAnswer.Events(Map.of(), new QuietStream(), problem -> new byte[0]))
                    .start();
            server.add(new ScriptedAgent().served(server, "ping"));
            System.out.println("ours: " + server.url());
        }
    }

    private static byte[] echo(byte[] json) {
        return Json.write(Json.read(json, Map.class));
    }

    /** Never has an event. */
    private static final class QuietStream implements Feed<byte[]> {
        private final CountDownLatch closed = new CountDownLatch(1);

        @Override
        public @Nullable List<byte[]> next(Duration patience) throws InterruptedException {
            return closed.await(patience.toNanos(), TimeUnit.NANOSECONDS) ? null : List.of();
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }
}
