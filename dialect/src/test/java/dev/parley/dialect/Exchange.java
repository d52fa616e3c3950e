package dev.parley.dialect;

import static dev.parley.dialect.Wire.bytes;
import static dev.parley.dialect.Wire.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.served.ServedCard;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One request to a scripted agent, and its answer. */
final class Exchange {
    private static final AgentCard CARD = Json.read(Wire.example("card.full.json"), AgentCard.class);

    final ScriptedEndpoint endpoint = new ScriptedEndpoint();
    private final Map<String, String> headers = new HashMap<>();
    private DialectSettings settings = DialectSettings.DEFAULTS;
    private AgentCard card = CARD;
    private Set<String> dialects = Set.of("1.0");
    private @Nullable AgentEndpoint extension;
    private ExtensionTable extensions = ExtensionTable.EMPTY;

    Exchange with(String header, String value) {
        headers.put(header.toLowerCase(Locale.ROOT), value);
        return this;
    }

    Exchange with(DialectSettings settings) {
        this.settings = settings;
        return this;
    }

    Exchange with(AgentCard card) {
        this.card = card;
        return this;
    }

    /** Has {@code endpoint} answer the operations of an extension. */
    Exchange with(ExtensionProtocol extension, AgentEndpoint endpoint) {
        this.extensions = new ExtensionTable(List.of(extension));
        this.extension = endpoint;
        return this;
    }

    /** Serves the agent in every dialect, not in 1.0 alone. */
    Exchange inEveryDialect() {
        dialects = Dialects.NAMES;
        return this;
    }

    /** Sends a JSON-RPC request as {@code application/json}. */
    WireAnswer rpc(String body) {
        headers.putIfAbsent("content-type", "application/json");
        return send("POST", "", bytes(body));
    }

    /** Calls a JSON-RPC method and returns the parsed answer. */
    Tree rpc(String method, String params) {
        return Tree.of(
                whole(rpc("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + method + "\",\"params\":" + params + "}")));
    }

    WireAnswer.Whole rest(String verb, String target, String body) {
        return whole(send(verb, target, bytes(body)));
    }

    WireAnswer.Whole rest(String verb, String target) {
        return rest(verb, target, "");
    }

    WireAnswer send(String verb, String target, byte[] body) {
        return send(request(verb, target, body));
    }

    WireAnswer send(WireRequest request) {
        return new Dialects(settings)
                .answer(
                        request,
                        new ServedAgent("a", new Both(), ServedCard.unsigned(card), dialects, extensions),
                        CallContext.anonymous());
    }

    private final class Both implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            return of(operation).call(operation, context);
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            return of(operation).watch(operation, context);
        }

        private AgentEndpoint of(Operation operation) {
            return extension != null && operation instanceof Operation.Extension ? extension : endpoint;
        }
    }

    /** The request as a server would hand it over; {@code target} may have a query and be percent-encoded. */
    WireRequest request(String verb, String target, byte[] body) {
        int mark = target.indexOf('?');
        String path = mark < 0 ? target : target.substring(0, mark);
        Map<String, List<String>> query = new LinkedHashMap<>();
        if (mark >= 0) {
            for (String pair : target.substring(mark + 1).split("&", -1)) {
                int equals = pair.indexOf('=');
                query.computeIfAbsent(decode(pair.substring(0, equals)), name -> new ArrayList<>())
                        .add(decode(pair.substring(equals + 1)));
            }
        }
        String kept = path.replace("+", "%2B").replace("%2F", "%252F").replace("%2f", "%252f");
        return new WireRequest(
                verb, decode(kept), query, name -> headers.get(name.toLowerCase(Locale.ROOT)), body, "127.0.0.1");
    }

    private static String decode(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    static WireAnswer.Whole whole(WireAnswer answer) {
        assertThat(answer).isInstanceOf(WireAnswer.Whole.class);
        return (WireAnswer.Whole) answer;
    }

    /** The frames of a stream, one below the other. */
    static String frames(WireAnswer answer) throws InterruptedException {
        assertThat(answer).isInstanceOf(WireAnswer.Events.class);
        var events = (WireAnswer.Events) answer;
        var frames = new StringBuilder();
        try (Feed<byte[]> stream = events.frames()) {
            for (var next = stream.next(Duration.ZERO); next != null; next = stream.next(Duration.ZERO)) {
                next.forEach(frame -> frames.append(text(frame)));
            }
        }
        return frames.toString();
    }
}
