package dev.parley.registry.client;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.HttpCall;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.support.LruMap;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryModel;
import dev.parley.registry.EntryOperation;
import dev.parley.registry.RegistryCall;
import dev.parley.registry.RegistryError;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.RevocationList;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Client of the registry of a hub. Cards are cached, and fetched again only if they have changed. Safe for any thread.
 *
 * <pre>{@code
 * try (Registry registry = Registry.connect("https://hub.example.com")) {
 *     SendResult answer = registry.find("translate legal text").best().send("Guten Tag");
 * }
 * }</pre>
 */
public final class Registry implements AutoCloseable {
    /** Largest number of results of a search. */
    public static final int MOST_RESULTS = 100;

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int MOST_CARDS = 1_000;
    private static final String AGENT = "/agents/" + RegistryProtocol.AGENT;

    private record Card(String etag, byte[] bytes) {}

    private final AgentClient registry;
    private final String url;
    private final Supplier<AgentClientBuilder> agents;
    private volatile @Nullable RevocationCheck revocations;
    /** Guarded by itself. */
    private final Map<String, Card> cards = new LruMap<>(MOST_CARDS);

    private Registry(AgentClient registry, String hub, Supplier<AgentClientBuilder> agents) {
        this.registry = registry;
        this.url = hub;
        this.agents = agents;
    }

    /** Connects to the registry of a hub, without credentials. */
    public static Registry connect(String hub) {
        return connect(hub, AgentClient.builder(), AgentClient::builder);
    }

    /**
     * Connects to the registry of a hub.
     *
     * @param registry builder of the client of the registry, for instance with credentials
     * @param agents builders of clients of agents that are found; credentials of the registry are not theirs
     * @throws dev.parley.client.spi.ClientException if there is none
     */
    public static Registry connect(String hub, AgentClientBuilder registry, Supplier<AgentClientBuilder> agents) {
        return of(registry.connect(agent(hub)), hub, agents);
    }

    /** The registry of a hub by a client of its agent. */
    public static Registry of(AgentClient registry, String hub, Supplier<AgentClientBuilder> agents) {
        return new Registry(registry, root(hub), agents);
    }

    /**
     * Has the signed list of revocations of the registry honoured, for all calls from now on: {@link #find} leaves out agents on it, their
     * cached cards are dropped, and no client of them is made. The list is fetched again after a minute. Without a valid list, agents are
     * refused.
     *
     * @param verifier judges a payload and its detached JWS, by the keys that sign the cards of the hub; {@code CardTrust} of {@code
     *     parley-trust} has them
     * @return this
     */
    public Registry revocations(BiFunction<byte[], String, Verdict> verifier) {
        return revocations(verifier, InstantSource.system());
    }

    Registry revocations(BiFunction<byte[], String, Verdict> verifier, InstantSource clock) {
        revocations = new RevocationCheck(
                () -> registry.exchange(
                        new HttpCall("GET", url + "/registry/revocations", Map.of(), new byte[0]), TIMEOUT),
                verifier,
                clock);
        return this;
    }

    /** The list that is in force, whose cards are dropped; null if none is honoured. */
    private @Nullable RevocationList revoked() {
        RevocationCheck check = revocations;
        if (check == null) {
            return null;
        }
        RevocationList list = check.list();
        synchronized (cards) {
            cards.entrySet()
                    .removeIf(card -> list.of(
                                    card.getKey(),
                                    RevocationCheck.digest(card.getValue().bytes()))
                            .isPresent());
        }
        return list;
    }

    /** @throws RegistryException if the agent or its card is revoked */
    private void requireNotRevoked(String id, byte @Nullable [] card) {
        RevocationList list = revoked();
        if (list != null) {
            list.of(id, card == null ? "" : RevocationCheck.digest(card)).ifPresent(revoked -> {
                throw new RegistryException(
                        "agent \"" + id + "\": revoked at " + revoked.time() + ": " + revoked.reason());
            });
        }
    }

    boolean isCached(String id) {
        synchronized (cards) {
            return cards.containsKey(id);
        }
    }

    /** Address of the agent of a hub that is its registry. */
    public static String agent(String hub) {
        return root(hub) + AGENT;
    }

    private static String root(String hub) {
        return hub.replaceFirst("/+$", "").replaceFirst(AGENT + "$", "");
    }

    /** Finds agents by a text, also at the peers of the registry. */
    public Results find(String text) {
        return find(text, 10, true);
    }

    /**
     * Finds agents.
     *
     * @param size largest number of results, at most {@value #MOST_RESULTS}
     * @param peers whether the registry asks its peers
     */
    public Results find(String text, int size, boolean peers) {
        var search = Map.of("query", Map.of("text", text), "pageSize", size, "federation", peers ? "auto" : "none");
        SearchAnswer answer = SearchAnswer.read(body(registry.exchange(
                new HttpCall(
                        "POST",
                        url + "/registry/ard/search",
                        Map.of("Content-Type", "application/json", "Accept", "application/json"),
                        Json.write(search)),
                TIMEOUT)));
        List<Results.Found> found = new ArrayList<>();
        List<Results.Found> gone = new ArrayList<>();
        RevocationList revoked = revoked();
        for (SearchAnswer.Result result : answer.results()) {
            var one = new Results.Found(this, result);
            (revoked == null || revoked.of(one.id(), "").isEmpty() ? found : gone).add(one);
        }
        return new Results(text, found, answer.peers(), gone);
    }

    private static byte[] body(HttpCall.Answer answer) {
        if (answer.status() == 200) {
            return answer.body();
        }
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        throw new RegistryException(
                "the registry answered " + answer.status() + ": " + text.substring(0, Math.min(text.length(), 500)));
    }

    /**
     * Calls an operation of the registry.
     *
     * @param operation such as {@link dev.parley.registry.ReviewOperation.ReviewEntry}
     * @throws A2AException if the registry refuses it
     */
    public <A> A call(RegistryCall<A> operation) {
        return registry.call(operation, CallContext.anonymous());
    }

    /**
     * Registers an agent, or publishes a version of its card.
     *
     * @throws A2AException if the registry refuses it
     */
    public Entry register(EntryOperation.Publication publication) {
        return call(new EntryOperation.RegisterEntry(publication, null));
    }

    /** The first page of the entries that fulfil conditions, by their names. */
    public EntryOperation.EntryPage list(EntryFilter filter) {
        return call(new EntryOperation.ListEntries(filter, null, null, null, null));
    }

    /**
     * The entry with a URN or readable id.
     *
     * @throws A2AException {@link RegistryError#ENTRY_NOT_FOUND} if the caller sees none
     */
    public Entry show(String id) {
        return call(new EntryOperation.ShowEntry(id)).entry();
    }

    /**
     * The card of an entry.
     *
     * @throws RegistryException if the entry is revoked, expired or deleted
     * @throws A2AException {@link RegistryError#ENTRY_NOT_FOUND} if the caller sees none
     */
    public AgentCard card(String id) {
        Entry entry = show(id);
        if (!entry.isUsable()) {
            forget(entry.id());
            throw new RegistryException("agent \"" + entry.id() + "\": "
                    + EntryModel.word(entry.state().status()));
        }
        byte[] card = bytes(entry.id());
        requireNotRevoked(entry.id(), card);
        return Json.readCard(card);
    }

    private byte[] bytes(String id) {
        Card known;
        synchronized (cards) {
            known = cards.get(id);
        }
        String place = agent(url) + "/agents/"
                + URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20") + "/card";
        HttpCall.Answer answer = registry.exchange(
                new HttpCall(
                        "GET", place, known == null ? Map.of() : Map.of("If-None-Match", known.etag()), new byte[0]),
                TIMEOUT);
        if (answer.status() == 304 && known != null) {
            return known.bytes();
        }
        if (answer.status() != 200) {
            forget(id);
            throw new RegistryException("agent \"" + id + "\": no card, status " + answer.status());
        }
        String etag = answer.etag();
        if (etag != null) {
            synchronized (cards) {
                cards.put(id, new Card(etag, answer.body()));
            }
        }
        return answer.body();
    }

    private void forget(String id) {
        synchronized (cards) {
            cards.remove(id);
        }
    }

    /** A client of the agent of an entry. */
    public AgentClient connectTo(String id) {
        return agents.get().of(card(id));
    }

    /** A client of an agent that was found; that of a peer by the address or the card in the result. */
    AgentClient connectTo(SearchAnswer.Result result) {
        String id = result.identifier();
        try {
            return connectTo(id);
        } catch (A2AException unknown) {
            if (!unknown.error().name().equals(RegistryError.ENTRY_NOT_FOUND.name())) {
                throw unknown;
            }
        }
        requireNotRevoked(id, null);
        if (result.card() != null) {
            return agents.get().of(Json.readCard(Json.write(result.card())));
        }
        if (result.url() != null) {
            return agents.get().connect(result.url());
        }
        throw new RegistryException("agent \"" + id + "\": the result has no card and no address");
    }

    @Override
    public void close() {
        registry.close();
    }
}
