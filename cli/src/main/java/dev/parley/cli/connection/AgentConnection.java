package dev.parley.cli.connection;

import dev.parley.cli.command.Invocation;
import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.HttpCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The agent that a command talks to: its card, the interface chosen from it, and the credentials that it requires.
 *
 * <p>Source: a2a-cli specification 0.2, sections 12 and 13.
 */
public final class AgentConnection implements AutoCloseable {
    private static final Duration LONGEST_CALL = Duration.ofMinutes(1);

    private final String reference;
    private final AgentClient client;
    private final boolean credentialSent;

    private AgentConnection(String reference, AgentClient client, boolean credentialSent) {
        this.reference = reference;
        this.client = client;
        this.credentialSent = credentialSent;
    }

    /** Work with the agent that the settings name. */
    public interface Use {
        int with(AgentConnection agent) throws InterruptedException;
    }

    /** Finds the card, chooses an interface, and lets {@code use} go on; failures become problems that are printed. */
    public static int open(Invocation call, Use use) throws InterruptedException {
        return open(call, call.agent().card(), use);
    }

    /** Does the same with another agent than that of the settings. */
    public static int open(Invocation call, String reference, Use use) throws InterruptedException {
        try (AgentConnection agent = connect(call, reference)) {
            try {
                return use.with(agent);
            } catch (A2AException | ClientException failure) {
                throw Problems.of(failure, agent.place());
            }
        } catch (A2AException | ClientException failure) {
            throw Problems.of(failure, new Problems.Place(reference, null, false));
        }
    }

    /** Context for the wording of errors; final only after the call, because another interface may have answered. */
    public Problems.Place place() {
        return new Problems.Place(reference, client.address().protocolBinding(), credentialSent);
    }

    /** Reads the card that the settings name, without talking to the agent itself. */
    public static CardReferences.Found card(Invocation call, String reference) {
        return CardReferences.find(
                call,
                Requests.agent(call, WireLog.of(call)),
                reference,
                !call.credentials().headers().isEmpty());
    }

    /** Reads a document beside a card, under the conditions under which cards are read; empty unless the answer is 200. */
    public static Optional<byte[]> document(Invocation call, String url) {
        Requests.requirePrivate(call, HttpUrl.of(url), new AgentCredentials(call).areFor(url));
        HttpCall.Answer answer = Requests.agent(call, WireLog.of(call)).exchange(Requests.jsonAt(url));
        return answer.status() == 200 ? Optional.of(answer.body()) : Optional.empty();
    }

    private static AgentConnection connect(Invocation call, String reference) {
        var credentials = new AgentCredentials(call);
        boolean hasCredentials = credentials.areFor(reference);
        WireLog wire = WireLog.of(call);
        AgentClientBuilder builder = Requests.agent(call, wire);
        CardReferences.Found found = CardReferences.find(call, builder, reference, hasCredentials);
        AgentCard card = found.card();
        wire.note("card from " + found.place());
        CardSignatures.check(call, found, builder);
        Duration timeout = call.request().limit();
        builder.retries(2)
                .sendTimeout(timeout)
                .streamSilence(timeout)
                .callTimeout(timeout.compareTo(LONGEST_CALL) < 0 ? timeout : LONGEST_CALL)
                .prefer(call.agent().transports().toArray(String[]::new));
        call.protocols().forEach(builder::extension);
        String version = call.agent().a2aVersion();
        if (version != null) {
            builder.version(version.replaceFirst("^(\\d+\\.\\d+).*", "$1"));
        }
        boolean credentialSent = credentials.addTo(builder, card);
        allowOrigins(call, found, card, builder, credentialSent);
        AgentClient client = choose(card, builder);
        wire.note("interface " + client.address().protocolBinding() + " "
                + client.address().protocolVersion() + " at " + client.address().url());
        refuseStrangers(call, found, client.address());
        refusePlain(call, client.address());
        return new AgentConnection(reference, client, credentialSent);
    }

    private static AgentClient choose(AgentCard card, AgentClientBuilder builder) {
        try {
            return builder.of(card);
        } catch (ClientException none) {
            boolean knownBinding = card.supportedInterfaces().stream()
                    .anyMatch(at -> at.protocolBinding().equalsIgnoreCase(AgentCard.Interface.JSONRPC)
                            || at.protocolBinding().equalsIgnoreCase(AgentCard.Interface.HTTP_JSON));
            if (none.problem() == ClientException.Problem.NO_INTERFACE && knownBinding) {
                throw A2AException.of(A2AError.VERSION_NOT_SUPPORTED, String.valueOf(none.getMessage()));
            }
            throw none;
        }
    }

    /** Lets the client fall back to interfaces, and get tokens, where the card came from and where it is allowed. */
    private static void allowOrigins(
            Invocation call,
            CardReferences.Found found,
            AgentCard card,
            AgentClientBuilder builder,
            boolean credentialSent) {
        call.agent().allowedOrigins().forEach(builder::allowOrigin);
        if (found.url() != null) {
            builder.allowOrigin(found.url().server());
            return;
        }
        if (credentialSent || !call.credentials().parameters().isEmpty()) {
            return;
        }
        // The user vouches for a card in a file.
        for (AgentCard.Interface at : card.supportedInterfaces()) {
            if (at.protocolBinding().equals(AgentCard.Interface.GRPC)) {
                continue; // never a fallback for another interface
            }
            try {
                builder.allowOrigin(at.url());
            } catch (IllegalArgumentException noHttp) {
                // No fallback.
                WireLog.of(call).note(at.url() + " is not used: " + noHttp.getMessage());
            }
        }
    }

    /** The origins at which a user may log in: the card's own and those of {@code --allow-origin}. */
    public static List<String> loginOrigins(Invocation call, CardReferences.Found found) {
        var origins = new ArrayList<>(call.agent().allowedOrigins());
        if (found.url() != null) {
            origins.add(found.url().server());
        }
        return origins;
    }

    /** Refuses a card that leads to another origin than its own, which would get messages and credentials. */
    private static void refuseStrangers(Invocation call, CardReferences.Found found, AgentCard.Interface at) {
        HttpUrl own = found.url();
        if (own == null) {
            return;
        }
        HttpUrl url = url(at.url(), own).orElseThrow();
        if (!url.origin().equals(own.origin())
                && call.agent().allowedOrigins().stream()
                        .noneMatch(one -> HttpUrl.of(one).origin().equals(url.origin()))) {
            throw CommandException.of(
                    Kind.ORIGIN_NOT_ALLOWED,
                    "the card of " + own.server() + " leads to " + url.server()
                            + ", which would get your messages and credentials",
                    "if you trust it: --allow-origin " + url.server());
        }
    }

    /** An address in a card; empty if it is not one of HTTP. Interfaces of gRPC have only host and port, and use TLS if the card does. */
    public static Optional<HttpUrl> url(String address, HttpUrl card) {
        try {
            return Optional.of(
                    HttpUrl.of(address.contains("://") ? address : card.uri().getScheme() + "://" + address));
        } catch (IllegalArgumentException otherBinding) {
            return Optional.empty();
        }
    }

    /**
     * Callers of AgentVault keep to TLS: elsewhere than on this machine, plain HTTP needs a flag, with or without
     * credentials.
     *
     * <p>Source: AgentVault 0.2, transport.
     */
    private static void refusePlain(Invocation call, AgentCard.Interface at) {
        if (at.protocolVersion().equals("agentvault") && !call.agent().insecureHttp()) {
            HttpUrl url = HttpUrl.of(at.url());
            if (url.isPlain()) {
                throw Requests.plainHttp("the agent speaks AgentVault at " + url.server());
            }
        }
    }

    public AgentClient client() {
        return client;
    }

    public boolean streams() {
        return Boolean.TRUE.equals(client.card().capabilities().streaming());
    }

    /** @throws A2AException if the agent does not do webhooks */
    public void requirePush() {
        if (!Boolean.TRUE.equals(client.card().capabilities().pushNotifications())) {
            throw A2AException.of(
                    A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED,
                    client.card().name() + " does not send push notifications");
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
