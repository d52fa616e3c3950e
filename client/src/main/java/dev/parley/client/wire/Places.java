package dev.parley.client.wire;

import static java.util.Objects.requireNonNull;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.WireListener;
import dev.parley.client.wire.CardFinder.Found;
import dev.parley.dialect.WireBinding;
import dev.parley.dialect.spi.Binding;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The interfaces of a card that may be used, and the one that is: the only place where version and binding are chosen.
 *
 * <p>The best one is used. Until one of them has answered for the first time, the next stand in for it if it cannot be
 * spoken to: no server accepts the connection, or it does not know the call. Either way nothing has happened, so even a
 * message may be sent to another. After that there is no change any more, for an agent that is known to be there will
 * come back. Some are reached by HTTP and some by a {@link dev.parley.dialect.spi.Transport}; each kind stands in for the other. Safe
 * for any number of threads.
 *
 * <p>Source: A2A specification 1.0, sections 5.2 and 8.3.2.
 */
public final class Places {
    /** One exchange with the agent, in the time that is left. */
    public interface Exchange<T> {
        T at(AgentAddress place, Duration left) throws AttemptFailure, InterruptedException;
    }

    /** Maximum of attempted places: a card may list any number, and an attempt may last until its timeout. */
    static final int MOST = 8;

    private final List<AgentAddress> places;
    private volatile AgentAddress used;
    private volatile boolean settled;

    /** @param places the best first, at least one */
    private Places(List<AgentAddress> places, AgentAddress used, boolean settled) {
        this.places = places;
        this.used = used;
        this.settled = settled;
    }

    /**
     * Chooses among the interfaces of {@code card} that this client speaks: those of preferred bindings come first, else
     * the order of the card counts.
     *
     * @param found where the card came from; null if it was given
     * @throws ClientException if there is none
     */
    public static Places of(AgentCard card, @Nullable Found found, ClientSettings settings) {
        var preferred = new ArrayList<List<AgentAddress>>();
        settings.preferred().forEach(binding -> preferred.add(new ArrayList<>()));
        var others = new ArrayList<AgentAddress>();
        for (AgentCard.Interface agent : card.supportedInterfaces()) {
            if (isWanted(agent.protocolVersion(), settings.version())) {
                int rank = rank(agent.protocolBinding(), settings.preferred());
                place(card, agent, found, settings).ifPresent((rank < 0 ? others : preferred.get(rank))::add);
            }
        }
        List<AgentAddress> all = new ArrayList<>();
        preferred.forEach(all::addAll);
        all.addAll(others);
        if (all.isEmpty()) {
            throw none(card, settings);
        }
        return new Places(List.copyOf(all), all.getFirst(), false);
    }

    /** Returns an interface as a place; empty if this client does not speak to it. */
    private static Optional<AgentAddress> place(
            AgentCard card, AgentCard.Interface agent, @Nullable Found found, ClientSettings settings) {
        WireListener listener = settings.listener();
        Optional<Binding> binding = listener.equals(ClientSettings.DEAF)
                ? WireBinding.of(agent)
                : WireBinding.of(agent, listener::deviation);
        if (binding.isPresent()) {
            return Optional.of(new AgentAddress.ByHttp(card, agent, address(agent), binding.get(), found));
        }
        if (settings.http() != null) {
            return Optional.empty(); // other transports look hosts up themselves
        }
        try {
            return Transports.of(agent)
                    .map(transport ->
                            new AgentAddress.ByTransport(card, agent, Transports.url(card, agent), transport, found));
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // such addresses have forms that only some libraries know
        }
    }

    /** Patch numbers take no part: a card that says 1.0.1 means 1.0. */
    private static boolean isWanted(String offered, @Nullable String wanted) {
        boolean contained = "0.2".equals(wanted) && offered.startsWith("0.3"); // an agent of 0.3 answers 0.2 as well
        return wanted == null || contained || offered.equals(wanted) || offered.startsWith(wanted + ".");
    }

    private static int rank(String binding, List<String> preferred) {
        return preferred.stream()
                .map(name -> name.toUpperCase(Locale.ROOT))
                .toList()
                .indexOf(binding.toUpperCase(Locale.ROOT));
    }

    private static HttpUrl address(AgentCard.Interface agent) {
        try {
            return HttpUrl.ofAgent(agent.url());
        } catch (IllegalArgumentException e) {
            throw new ClientException(
                    Problem.CARD_INVALID, "supportedInterfaces: url " + agent.url() + " " + e.getMessage(), e);
        }
    }

    private static ClientException none(AgentCard card, ClientSettings settings) {
        List<String> offered = card.supportedInterfaces().stream()
                .map(agent -> agent.protocolBinding() + " " + agent.protocolVersion())
                .toList();
        return new ClientException(
                Problem.NO_INTERFACE,
                card.name() + " offers " + String.join(", ", offered) + " (expected: JSONRPC or HTTP+JSON, version "
                        + (settings.version() == null ? "0.1, 0.2, 0.3 or 1.0" : settings.version()) + ")");
    }

    /**
     * The same without those that must not stand in for the best: at origins that may not have the credentials, and
     * those without TLS if it has TLS; otherwise an attacker could block a connection to force plain text.
     *
     * @throws ClientException if the best one's origin may not have the credentials, or is plain HTTP
     */
    public Places within(HttpWire wire, ClientSettings settings) {
        wire.requireTrust(used.url().origin());
        if (settings.hasCredentials()) {
            settings.requirePrivate(used.url());
        }
        boolean secret = isSecret(used);
        return new Places(
                places.stream()
                        .filter(place -> wire.isTrusted(place.url().origin()) && (isSecret(place) || !secret))
                        .limit(MOST)
                        .toList(),
                used,
                settled);
    }

    private static boolean isSecret(AgentAddress place) {
        return place.url().uri().getScheme().equals("https");
    }

    /** The same interfaces, as another card of the same agent describes them. */
    public Places with(AgentCard card) {
        return new Places(places.stream().map(place -> place.with(card)).toList(), used.with(card), settled);
    }

    /** The one that is used: the best, until another one has answered in its stead. */
    public AgentAddress used() {
        return used;
    }

    /**
     * Does {@code exchange} with the one that is used, or, as long as none has answered yet, with the first that does.
     *
     * @throws AttemptFailure if none can be spoken to: the best one's
     */
    public <T> T use(Duration left, WireListener listener, Exchange<T> exchange)
            throws AttemptFailure, InterruptedException {
        if (settled) {
            return exchange.at(used, left);
        }
        long end = System.nanoTime() + left.toNanos();
        AttemptFailure first = null;
        for (AgentAddress place : places) {
            if (first != null) {
                listener.retrying(
                        first.verdict().getMessage() + "; another interface of the card is tried, "
                                + place.agent().protocolBinding() + " at "
                                + place.url().origin(),
                        Duration.ZERO);
            }
            try {
                T result = exchange.at(place, Duration.ofNanos(end - System.nanoTime()));
                settle(place);
                return result;
            } catch (A2AException answer) {
                settle(place);
                throw answer;
            } catch (AttemptFailure trouble) {
                if (!trouble.isNobodyThere()) {
                    throw trouble;
                }
                first = first == null ? trouble : first;
            }
        }
        throw requireNonNull(first, "at least one place");
    }

    private void settle(AgentAddress place) {
        used = place;
        settled = true;
    }
}
