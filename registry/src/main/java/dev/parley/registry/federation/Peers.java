package dev.parley.registry.federation;

import dev.parley.dialect.Json;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedFetch;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.retry.Backoff;
import dev.parley.registry.ExchangeOperation;
import dev.parley.registry.trust.TrustCheck;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Asks the peers of a registry. Each peer has a limit of requests at a time, and one that fails repeatedly is left out for a while, so
 * that a slow or dead one costs no search more than its time budget, and most of them nothing. Safe for any thread.
 */
final class Peers implements Federation, AutoCloseable {
    private static final Duration BUDGET = Duration.ofMillis(1_500);
    private static final int MAX_ANSWER = 1 << 20;
    private static final int MAX_RESULTS = 100;
    private static final int MAX_HOPS = 4;
    private static final int AT_ONCE = 32;
    private static final int FAILURES = 3;
    private static final Backoff PAUSES = new Backoff(Duration.ofSeconds(10), Duration.ofMinutes(5));
    private static final int RRF = 60;
    private static final Pattern IDENTIFIER = Pattern.compile("urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+");
    private static final int MAX_IDENTIFIER = 300;

    /** Extension member of a result: whether its peer speaks for its publisher. */
    private static final String AUTHORITATIVE = "parley:authoritative";

    /** Load and failures of a peer, in this hub. */
    private static final class Gauge {
        final Semaphore free = new Semaphore(AT_ONCE);
        private int failures;
        private long skippedUntil;

        synchronized boolean isSkipped() {
            return failures >= FAILURES && System.nanoTime() - skippedUntil < 0;
        }

        synchronized void ended(boolean isGood) {
            failures = isGood ? 0 : failures + 1;
            if (failures >= FAILURES) {
                skippedUntil = System.nanoTime()
                        + PAUSES.bound(failures - FAILURES + 1).toNanos();
            }
        }
    }

    /**
     * Answer of a peer.
     *
     * @param refused results that it may not give
     * @param ownPublisher of these, those that have the publisher of this registry without being entries of it
     */
    private record Answer(List<Map<String, @Nullable Object>> results, int refused, long ownPublisher) {}

    private final PeerTable table;
    private final TrustCheck trust;
    private final String publisher;
    private final Predicate<String> isOwn;
    private final GuardedFetch http;
    private final Map<String, Gauge> gauges = new ConcurrentHashMap<>();

    /**
     * @param publisher domain of this registry, for which no peer speaks
     * @param isOwn whether an identifier is one of an entry that is registered here, or was revoked here
     */
    Peers(PeerTable table, TrustCheck trust, AddressRule rule, String publisher, Predicate<String> isOwn) {
        this.table = table;
        this.trust = trust;
        this.publisher = publisher;
        this.isOwn = isOwn;
        this.http = new GuardedFetch(rule, BUDGET, MAX_ANSWER);
    }

    @Override
    public Merged search(
            Map<String, @Nullable Object> query,
            int size,
            List<Map<String, @Nullable Object>> own,
            CallContext caller) {
        long begun = System.nanoTime();
        List<Peer> peers =
                table.all().stream().filter(peer -> peer.cut() == null).toList();
        if (peers.isEmpty()) {
            return new Merged(own.subList(0, Math.min(size, own.size())), List.of());
        }
        var asked = new LinkedHashMap<Peer, FutureTask<Answer>>();
        var outcomes = new LinkedHashMap<Peer, Map<String, Object>>();
        for (Peer peer : peers) {
            Gauge gauge = gauges.computeIfAbsent(peer.name(), name -> new Gauge());
            if (caller.chain().agents().size() > MAX_HOPS) {
                outcomes.put(peer, outcome(peer, "skipped", "the call has gone through " + MAX_HOPS + " agents", 0, 0));
            } else if (gauge.isSkipped()) {
                outcomes.put(peer, outcome(peer, "skipped", "failed repeatedly", 0, 0));
            } else if (!gauge.free.tryAcquire()) {
                outcomes.put(peer, outcome(peer, "busy", AT_ONCE + " requests wait for it", 0, 0));
            } else {
                var task = new FutureTask<>(() -> ask(peer, gauge, query, size, caller));
                asked.put(peer, task);
                Thread.ofVirtual().name("registry-peer").start(() -> {
                    try {
                        task.run(); // does nothing if the search is over already
                    } finally {
                        gauge.free.release();
                    }
                });
            }
        }
        var answers = new LinkedHashMap<Peer, Answer>();
        asked.forEach((peer, task) -> outcomes.put(peer, awaited(peer, task, begun, answers)));
        return new Merged(
                fused(own, answers, size),
                peers.stream()
                        .map(peer -> Objects.requireNonNull(outcomes.get(peer)))
                        .toList());
    }

    /** Waits for a peer until the budget is spent, and adds its answer if there is one. */
    private Map<String, Object> awaited(Peer peer, FutureTask<Answer> task, long begun, Map<Peer, Answer> answers) {
        try {
            long rest = BUDGET.toNanos() - (System.nanoTime() - begun);
            Answer answer = task.get(Math.max(0, rest), TimeUnit.NANOSECONDS);
            answers.put(peer, answer);
            String reason = answer.refused() == 0 ? "" : answer.refused() + " results refused";
            if (answer.ownPublisher() > 0) {
                reason += ": the peer has the publisher " + publisher
                        + ", as this registry (expected: another --registry-publisher at one of them)";
            }
            return outcome(peer, "ok", reason, begun, answer.results().size());
        } catch (TimeoutException late) {
            return outcome(peer, "late", "no answer within " + BUDGET.toMillis() + " ms", begun, 0);
        } catch (ExecutionException failed) {
            Throwable cause = Objects.requireNonNull(failed.getCause());
            return outcome(peer, "failed", String.valueOf(cause.getMessage()), begun, 0);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return outcome(peer, "late", "interrupted", begun, 0);
        } finally {
            task.cancel(true);
        }
    }

    private static Map<String, Object> outcome(Peer peer, String outcome, String reason, long begun, int results) {
        var members = new LinkedHashMap<String, Object>();
        members.put("peer", peer.name());
        members.put("url", peer.url());
        members.put("outcome", outcome);
        members.put("reason", reason);
        members.put("millis", begun == 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
        members.put("results", results);
        return members;
    }

    private Answer ask(Peer peer, Gauge gauge, Map<String, @Nullable Object> query, int size, CallContext caller)
            throws IOException, InterruptedException {
        boolean isGood = false;
        try {
            var request = new LinkedHashMap<String, @Nullable Object>();
            request.put("query", query);
            request.put("federation", "none");
            request.put("pageSize", Math.min(MAX_RESULTS, size));
            var headers = new LinkedHashMap<>(peer.headers());
            headers.put("Accept", "application/json");
            String chain = caller.chain().baggage();
            if (chain != null) {
                headers.put(CallChain.HEADER, chain);
            }
            GuardedFetch.Document answer =
                    http.post(caller.scope().group(), peer.url() + "/search", headers, Json.write(request));
            if (answer.status() != 200) {
                throw new IOException("status " + answer.status());
            }
            Answer read = read(peer, answer.body(), caller.scope().group());
            isGood = true;
            return read;
        } catch (A2AException malformed) {
            throw new IOException("malformed answer: " + malformed.getMessage(), malformed);
        } finally {
            gauge.ended(isGood);
        }
    }

    private Answer read(Peer peer, byte[] body, String group) throws IOException {
        if (!(Json.read(body, Map.class).get("results") instanceof List<?> results)) {
            throw new IOException("malformed answer: no results");
        }
        var good = new ArrayList<Map<String, @Nullable Object>>();
        var seen = new HashSet<String>();
        for (Object result : results.subList(0, Math.min(MAX_RESULTS, results.size()))) {
            if (result instanceof Map<?, ?> members
                    && members.get("identifier") instanceof String id
                    && id.length() <= MAX_IDENTIFIER
                    && IDENTIFIER.matcher(id).matches()
                    && !TrustCheck.publisher(id).equals(publisher)
                    && !isOwn.test(id)
                    && !table.isRevoked(peer.name(), id)
                    && seen.add(key(members))) {
                good.add(judged(peer, id, members, group));
            }
        }
        long ownPublisher = results.stream()
                .filter(result -> result instanceof Map<?, ?> members
                        && members.get("identifier") instanceof String id
                        && IDENTIFIER.matcher(id).matches()
                        && TrustCheck.publisher(id).equals(publisher)
                        && !isOwn.test(id))
                .count();
        return new Answer(good, results.size() - good.size(), ownPublisher);
    }

    /** Replaces the peer's claims on trust and rank in a result by those of this registry. */
    private Map<String, @Nullable Object> judged(Peer peer, String id, Map<?, ?> members, String group) {
        var result = new LinkedHashMap<String, @Nullable Object>();
        members.forEach((name, value) -> {
            String member = String.valueOf(name);
            if (!member.startsWith("parley:") && !member.equals("score")) {
                result.put(member, value);
            }
        });
        result.put("source", peer.url());
        result.put("parley:peer", peer.name());
        result.put("parley:trust", ExchangeOperation.SIGNATURE.toJson(trust.ofResult(members, group)));
        result.put(AUTHORITATIVE, peer.speaksFor(TrustCheck.publisher(id)));
        return result;
    }

    private static String key(Map<?, ?> result) {
        return result.get("identifier") + "\n" + Objects.toString(result.get("version"), "");
    }

    /**
     * Reciprocal rank fusion. The registry's own results stand for their identifiers, then those of the peer that speaks for the publisher.
     *
     * <p>Source: Cormack, Clarke, Buettcher, SIGIR 2009.
     */
    private static List<Map<String, @Nullable Object>> fused(
            List<Map<String, @Nullable Object>> own, Map<Peer, Answer> answers, int size) {
        var lists = new ArrayList<List<Map<String, @Nullable Object>>>();
        lists.add(own);
        answers.values().forEach(answer -> lists.add(answer.results()));
        Set<Object> local = new HashSet<>();
        own.forEach(result -> local.add(result.get("identifier")));
        // Versions that the peer of the publisher has: others cannot add some.
        var authoritative = new HashMap<Object, Set<String>>();
        answers.values().stream()
                .flatMap(answer -> answer.results().stream())
                .filter(result -> Boolean.TRUE.equals(result.get(AUTHORITATIVE)))
                .forEach(result -> authoritative
                        .computeIfAbsent(result.get("identifier"), id -> new HashSet<>())
                        .add(key(result)));
        var scores = new LinkedHashMap<String, Double>();
        var chosen = new LinkedHashMap<String, Map<String, @Nullable Object>>();
        for (int list = 0; list < lists.size(); list++) {
            List<Map<String, @Nullable Object>> results = lists.get(list);
            for (int rank = 0; rank < results.size(); rank++) {
                Map<String, @Nullable Object> result = results.get(rank);
                Object id = result.get("identifier");
                String key = key(result);
                if (list > 0
                        && (local.contains(id)
                                || !authoritative.getOrDefault(id, Set.of(key)).contains(key))) {
                    continue;
                }
                scores.merge(key, 1.0 / (RRF + rank + 1), Double::sum);
                Map<String, @Nullable Object> before = chosen.putIfAbsent(key, result);
                if (before != null
                        && Boolean.FALSE.equals(before.get(AUTHORITATIVE))
                        && Boolean.TRUE.equals(result.get(AUTHORITATIVE))) {
                    chosen.put(key, result);
                }
            }
        }
        double best = scores.values().stream().mapToDouble(score -> score).max().orElse(1);
        return scores.entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .limit(size)
                .map(scored -> {
                    var result = new LinkedHashMap<>(Objects.requireNonNull(chosen.get(scored.getKey())));
                    result.put("score", Math.round(100 * scored.getValue() / best));
                    return (Map<String, @Nullable Object>) result;
                })
                .toList();
    }

    @Override
    public List<Map<String, Object>> referrals() {
        return table.all().stream()
                .filter(peer -> peer.cut() == null)
                .map(peer -> Map.<String, Object>of(
                        "identifier",
                        "urn:air:" + publisher + ":peers:" + peer.name(),
                        "displayName",
                        peer.name(),
                        "type",
                        "application/ai-registry+json",
                        "url",
                        peer.url() + "/search"))
                .toList();
    }

    @Override
    public void close() {
        http.close();
    }
}
