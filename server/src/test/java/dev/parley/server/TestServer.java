package dev.parley.server;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Servers for tests: any free port of this machine, and a handler that tells what reached it. */
final class TestServer {
    private TestServer() {}

    static ServerBuilder builder() {
        return Server.builder(new Dialects(DialectSettings.DEFAULTS))
                .port(0)
                .allowedHosts(List.of("x"))
                .handler("/echo", TestServer::echo);
    }

    static WireAnswer.Whole text(String text) {
        return new WireAnswer.Whole(200, Map.of("Content-Type", "text/plain"), text.getBytes(StandardCharsets.UTF_8));
    }

    private static WireAnswer.Whole echo(WireRequest request, RequestHandler.Body body) {
        return text("%s %s %s x-test=%s %s"
                .formatted(
                        request.method(),
                        request.path(),
                        request.query(),
                        request.header("X-Test"),
                        new String(body.read(), StandardCharsets.UTF_8)));
    }
}
