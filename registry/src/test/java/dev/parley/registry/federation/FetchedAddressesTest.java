package dev.parley.registry.federation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.extension.HubSignatures;
import dev.parley.extension.HubTimers;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedFetch;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.registry.Cards;
import dev.parley.registry.Entry;
import dev.parley.registry.ExchangeOperation.CatalogSignature;
import dev.parley.registry.Target;
import dev.parley.registry.document.CardFetch;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.health.Probes;
import dev.parley.registry.store.Entries;
import dev.parley.registry.trust.Fetch;
import dev.parley.registry.trust.Revocations;
import dev.parley.registry.trust.TrustCheck;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All ways by which a registry fetches from addresses that others chose. Rows of the security checks are in the names. */
@Timeout(120)
@Tag("heavy")
final class FetchedAddressesTest {
    /** A way on which a registry fetches. */
    enum Way {
        CARD,
        DOCUMENT,
        ATTESTATION,
        PROBE_OF_CARD,
        PROBE_OF_AGENT,
        PEER,
        COPIES
    }

    private static final HubSignatures NO_KEYS = new HubSignatures() {
        @Override
        public Optional<String> sign(byte[] payload) {
            return Optional.empty();
        }

        @Override
        public Optional<String> keys() {
            return Optional.empty();
        }

        @Override
        public Verdict verify(byte[] payload, String signature, String keys, @Nullable String host) {
            return CardTrust.of(keys).verify(payload, signature, host);
        }
    };

    private static final HubTimers NO_TIMERS = (name, handler) -> new HubTimers.Timers() {
        @Override
        public void set(String id, Instant due, String content) {}

        @Override
        public void set(DatabaseSession session, String id, Instant due, String content) {}

        @Override
        public void cancel(String id) {}

        @Override
        public int erase(Function<String, @Nullable String> change) {
            return 0;
        }
    };

    @TempDir
    Path directory;

    private Database database;
    private Target target;

    @BeforeEach
    void open() throws IOException {
        database = Database.open(directory);
        target = new Target();
    }

    @AfterEach
    void close() {
        target.close();
        database.close();
    }

    /** What comes of fetching on a way from an address; begins with {@code refused} if nothing was fetched. */
    private String outcome(Way way, String url, Collection<String> allowed) throws Exception {
        return outcome(way, url, new CardFetch(List.copyOf(allowed), false));
    }

    private String outcome(Way way, String url, CardFetch fetches) throws Exception {
        InstantSource clock = InstantSource.system();
        var entries =
                Entries.open(database, "a.example", List.of(), (caller, agent) -> true, NO_TIMERS, NO_KEYS, clock);
        try (var cards = fetches) {
            Fetch fetch = (group, address) -> cards.fetch().get(group, address, Map.of());
            var revocations = new Revocations(database, NO_KEYS, "a.example", clock);
            var trust = new TrustCheck(List.of(), NO_KEYS, revocations, fetch, clock);
            byte[] document = Cards.v1("Agent", "act").getBytes(UTF_8);
            return switch (way) {
                case CARD -> of(() -> cards.card("g", url));
                case DOCUMENT -> of(() -> cards.document("g", url));
                case ATTESTATION -> {
                    byte[] declaring = Json.write(Map.of(
                            "capabilities", Map.of("teeDetails", Map.of("type", "SGX", "attestationEndpoint", url))));
                    Entry.Trust attested = trust.attested(entry(null, url), declaring);
                    yield attested.teeOutcome() == Entry.TeeOutcome.FAILED
                            ? "refused " + attested.teeReason()
                            : "fetched";
                }
                case PROBE_OF_CARD -> probe(Probes.of(entry(url, url), document, fetch));
                case PROBE_OF_AGENT -> probe(Probes.of(entry(null, url), document, fetch));
                case PEER -> {
                    var table = new PeerTable(database, new byte[32]);
                    table.put(peer(url));
                    try (var peers = new Peers(table, trust, cards.rule(), "a.example", id -> false)) {
                        Map<String, Object> asked = peers.search(
                                        Map.of("text", "x"), 10, List.of(), CallContext.anonymous())
                                .peers()
                                .getFirst();
                        yield "ok".equals(asked.get("outcome")) ? "fetched" : "refused " + asked.get("reason");
                    }
                }
                case COPIES -> {
                    var table = new PeerTable(database, new byte[32]);
                    table.put(peer(url));
                    var copies = new PeerCopies(table, entries, cards.fetch(), "a.example", NO_TIMERS);
                    yield of(() -> copies.copy(peer(url)));
                }
            };
        }
    }

    private interface Attempt {
        Object run() throws Exception;
    }

    private static String of(Attempt attempt) throws Exception {
        try {
            return "fetched " + attempt.run();
        } catch (A2AException | IOException refused) {
            return "refused " + refused.getMessage();
        }
    }

    private static String probe(String probe) {
        return probe.startsWith("up") || probe.startsWith("degraded") ? "fetched " + probe : "refused " + probe;
    }

    private static Peer peer(String url) {
        return new Peer("peer", url + "/registry/ard", "", "", List.of("b.example"), true, null);
    }

    private static Entry entry(@Nullable String url, String endpoint) {
        var resource = new Entry.Resource(
                Entry.AGENT_CARD,
                "a",
                "",
                "",
                null,
                url,
                "sha256:x",
                null,
                List.of(),
                List.of(),
                List.of(),
                List.of(new Entry.Endpoint(endpoint, "JSONRPC", "1.0")),
                List.of(),
                Map.of());
        return new Entry(
                "urn:air:a.example:g:a",
                resource,
                new Entry.Ownership("g", "p", Entry.Visibility.PUBLIC),
                new Entry.Trust(Entry.Outcome.UNSIGNED, "", null, null, null, null),
                Entry.Health.UNKNOWN,
                new Entry.State(Entry.Status.ACTIVE, 1, 1, Instant.now(), Instant.now(), null));
    }

    private List<String> privateAddresses() {
        int port = target.port();
        return Stream.concat(
                        Stream.of(
                                        "127.0.0.1",
                                        "127.1",
                                        "2130706433",
                                        "0177.0.0.1",
                                        "0x7f.1",
                                        "localhost",
                                        "a.localhost",
                                        "localhost.",
                                        "[::1]",
                                        "[::ffff:127.0.0.1]",
                                        "[::ffff:7f00:1]",
                                        "0.0.0.0",
                                        "[::]",
                                        "user@127.0.0.1")
                                .map(host -> "http://" + host + ":" + port),
                        Stream.of(
                                "http://10.0.0.1",
                                "http://172.16.0.1:8080",
                                "https://192.168.0.1",
                                "http://169.254.169.254",
                                "http://100.64.0.1",
                                "http://224.0.0.1",
                                "http://[fe80::1]",
                                "http://[fd00::1]",
                                "http://[64:ff9b::a00:1]",
                                "http://metadata.internal",
                                "file:///etc/passwd",
                                "gopher://127.0.0.1:" + port,
                                "jar:http://127.0.0.1:" + port + "!/a",
                                "ftp://127.0.0.1:" + port))
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S29, S30, S31, S34: no way leads to a private address or another scheme")
    void noWayLeadsToAPrivateAddress(Way way) throws Exception {
        for (String url : privateAddresses()) {
            assertThat(outcome(way, url, Set.of())).as(url).startsWith("refused");
        }
        assertThat(target.requests).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S33: no way follows a redirect to a private address")
    void noWayFollowsARedirectToAPrivateAddress(Way way) throws Exception {
        try (var inside = new Target()) {
            for (String to : List.of(
                    "http://127.0.0.2:" + inside.port() + "/",
                    "http://10.0.0.1/",
                    "http://[::1]:" + inside.port() + "/",
                    "file:///etc/passwd")) {
                for (String path : List.of(
                        "/",
                        "/.well-known/agent-card.json",
                        "/.well-known/agent.json",
                        "/registry/ard/search",
                        "/registry/changes",
                        "/registry/revocations")) {
                    target.at(path, Target.redirecting(to));
                }
                assertThat(outcome(way, target.url(), Set.of("127.0.0.1")))
                        .as(to)
                        .startsWith("refused");
            }
            assertThat(inside.requests).isEmpty();
            assertThat(target.requests).isNotEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "S31, S32: a name that leads elsewhere between the check and the connection is dialled where it was checked")
    void theCheckedAddressIsDialled(Way way) throws Exception {
        try (var checked = new Target(new InetSocketAddress("127.0.0.2", target.port()))) {
            var lookups = new AtomicInteger();
            AddressRule rule = AddressRule.allowing(List.of("127.0.0.2"), "fetch-allow", name -> new InetAddress[] {
                InetAddress.getByName(lookups.incrementAndGet() % 2 == 1 ? "127.0.0.2" : "127.0.0.1")
            });

            var unused = outcome(way, "http://rebinding.example.com:" + target.port(), new CardFetch(rule));

            assertThat(lookups).hasPositiveValue();
            assertThat(checked.requests).as("the address that was checked").isNotEmpty();
            assertThat(target.requests)
                    .as("the address that the name leads to later")
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S36: answers without end are cut off on all ways")
    void answersWithoutEndAreCutOff(Way way) throws Exception {
        for (String path : List.of(
                "/",
                "/.well-known/agent-card.json",
                "/.well-known/agent.json",
                "/registry/ard/search",
                "/registry/changes")) {
            target.at(path, Target.endless());
        }

        assertThat(outcome(way, target.url(), Set.of("127.0.0.1"))).startsWith("refused");
    }

    @Test
    @DisplayName("S29, S40: identities in trust manifests lead to no private address")
    void identitiesLeadToNoPrivateAddress() throws Exception {
        InstantSource clock = InstantSource.system();
        for (String domain : List.of("127.0.0.1", "10.0.0.1", "169.254.169.254", "a.localhost", "metadata.internal")) {
            var rule = AddressRule.allowing(List.of());
            try (var http = new GuardedFetch(rule, Duration.ofSeconds(5), 1_000)) {
                var revocations = new Revocations(database, NO_KEYS, "a.example", clock);
                var trust = new TrustCheck(
                        List.of(), NO_KEYS, revocations, (group, url) -> http.get(group, url, Map.of()), clock);
                Map<String, Object> data = Map.of("name", "x");
                String signer = "did:web:" + domain;
                CatalogSignature verdict = trust.ofResult(
                        Map.of(
                                "identifier",
                                "urn:air:" + domain + ":g:a",
                                "type",
                                "text/plain",
                                "data",
                                data,
                                "trustManifest",
                                Map.of(
                                        "identity",
                                        signer,
                                        "issuedAt",
                                        "2020-01-01T00:00:00Z",
                                        "subject",
                                        Map.of(
                                                "identifier",
                                                "urn:air:" + domain + ":g:a",
                                                "type",
                                                "text/plain",
                                                "digest",
                                                CardReader.digest(Json.write(data))),
                                        "signature",
                                        Base64.getUrlEncoder()
                                                        .withoutPadding()
                                                        .encodeToString(Json.write(
                                                                Map.of("alg", "ES256", "kid", signer + "#k")))
                                                + "..AA")),
                        "g");
                assertThat(verdict.outcome()).as(domain).isEqualTo(Entry.Outcome.UNVERIFIABLE);
                assertThat(verdict.reason()).containsPattern("expected: a public host|cannot be found");
            }
        }
    }
}
