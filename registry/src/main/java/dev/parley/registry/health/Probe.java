package dev.parley.registry.health;

import dev.parley.dialect.Json;
import dev.parley.dialect.served.CardPayload;
import dev.parley.outbound.GuardedFetch.Document;
import dev.parley.protocol.A2AException;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Cause;
import dev.parley.registry.Entry.HealthStatus;
import dev.parley.registry.document.CardDiff;
import dev.parley.registry.trust.Fetch;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One look at an agent: its document where it was fetched, and its first address if that is on another host.
 *
 * @param millis until the answer; -1 for none
 */
public record Probe(HealthStatus status, Cause cause, String reason, long millis) {
    private static final long SLOW_MILLIS = 2_000;
    private static final int MAX_REASON = 300;
    private static final List<Integer> REFUSED = List.of(401, 403);

    public Probe {
        reason = reason.length() <= MAX_REASON ? reason : reason.substring(0, MAX_REASON) + "…";
    }

    boolean isGood() {
        return status == HealthStatus.UP;
    }

    /** The address of the agent that is looked at if its document has none; empty if nothing can be. */
    static Optional<String> endpoint(Entry entry) {
        return entry.resource().endpoints().stream()
                .filter(one ->
                        !one.binding().equalsIgnoreCase("GRPC") && one.url().startsWith("http"))
                .map(Entry.Endpoint::url)
                .findFirst();
    }

    static boolean isPossible(Entry entry) {
        return entry.resource().url() != null || endpoint(entry).isPresent();
    }

    /** Looks at an agent. Never throws for what the agent does. */
    static Probe of(Entry entry, byte[] document, Fetch fetch) throws InterruptedException {
        String group = entry.ownership().group();
        String url = entry.resource().url();
        String endpoint = endpoint(entry).orElse(null);
        Probe card = url == null ? null : ask(fetch, group, url, answer -> ofCard(entry, document, answer));
        if (card != null && !card.isGood() || endpoint == null || url != null && isSameHost(url, endpoint)) {
            return card != null ? card : new Probe(HealthStatus.UNKNOWN, Cause.NONE, "no address to probe", -1);
        }
        Probe agent = ask(fetch, group, endpoint, Probe::ofEndpoint);
        return agent.isGood() && card != null && card.millis() > agent.millis() ? card : agent;
    }

    /** Judges an answer; null if it is good. */
    private interface Judge {
        @Nullable
        Probe judge(Document answer);
    }

    private static Probe ask(Fetch fetch, String group, String url, Judge judge) throws InterruptedException {
        long begun = System.nanoTime();
        try {
            Document answer = fetch.get(group, url);
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
            Probe problem = judge.judge(answer);
            if (problem != null) {
                return new Probe(problem.status(), problem.cause(), problem.reason(), millis);
            }
            return millis > SLOW_MILLIS
                    ? new Probe(HealthStatus.DEGRADED, Cause.LATENCY, "answered after " + millis + " ms", millis)
                    : new Probe(HealthStatus.UP, Cause.NONE, "", millis);
        } catch (IOException failure) {
            return new Probe(HealthStatus.DOWN, cause(failure), String.valueOf(failure.getMessage()), -1);
        } catch (A2AException malformed) {
            return new Probe(HealthStatus.DOWN, Cause.PROTOCOL, String.valueOf(malformed.getMessage()), -1);
        }
    }

    private static @Nullable Probe ofCard(Entry entry, byte[] document, Document answer) {
        if (REFUSED.contains(answer.status())) {
            return new Probe(
                    HealthStatus.DEGRADED,
                    Cause.AUTHENTICATION,
                    "the document needs credentials: status " + answer.status(),
                    -1);
        }
        if (answer.status() != 200) {
            return new Probe(HealthStatus.DOWN, Cause.PROTOCOL, "status " + answer.status() + " for the document", -1);
        }
        if (!entry.resource().type().equals(Entry.AGENT_CARD)) {
            return Arrays.equals(answer.body(), document) ? null : drift("the document has changed");
        }
        try {
            return Arrays.equals(
                            CardPayload.of(answer.body()).whole(),
                            CardPayload.of(document).whole())
                    ? null
                    : drift("the card differs from the registered one in " + differences(answer.body(), document));
        } catch (A2AException malformed) {
            return new Probe(
                    HealthStatus.DOWN, Cause.PROTOCOL, "no card at the address: " + malformed.getMessage(), -1);
        }
    }

    private static Probe drift(String reason) {
        return new Probe(HealthStatus.DEGRADED, Cause.CARD_DRIFT, reason, -1);
    }

    private static String differences(byte[] found, byte[] known) {
        Map<?, ?> now = Json.read(found, Map.class);
        Map<?, ?> before = Json.read(known, Map.class);
        return Stream.concat(now.keySet().stream(), before.keySet().stream())
                .distinct()
                .filter(name -> !"signatures".equals(name) && !Objects.equals(now.get(name), before.get(name)))
                .map(String::valueOf)
                .sorted()
                .collect(Collectors.joining(", "));
    }

    /** Looks at an address of an agent. Never throws for what the agent does. */
    public static Probe ofAddress(String url, String group, Fetch fetch) throws InterruptedException {
        return ask(fetch, group, url, Probe::ofEndpoint);
    }

    private static @Nullable Probe ofEndpoint(Document answer) {
        return answer.status() >= 500
                ? new Probe(HealthStatus.DOWN, Cause.PROTOCOL, "the agent answers with status " + answer.status(), -1)
                : null;
    }

    /** The kind of a failure, by the first exception of its chain that tells. */
    private static Cause cause(Throwable failure) {
        for (Throwable one = failure; one != null; one = one.getCause()) {
            switch (one) {
                case UnknownHostException unknown -> {
                    return Cause.DNS;
                }
                case SSLException tls -> {
                    return Cause.TLS;
                }
                case ConnectException refused -> {
                    return Cause.CONNECT;
                }
                case SocketTimeoutException late -> {
                    return Cause.LATENCY;
                }
                case TimeoutException late -> {
                    return Cause.LATENCY;
                }
                default -> {}
            }
        }
        return Cause.PROTOCOL;
    }

    private static boolean isSameHost(String url, String other) {
        return CardDiff.origin(url).equals(CardDiff.origin(other));
    }
}
