package dev.parley.cli.connection;

import dev.parley.cli.command.ClientFlags.Credentials;
import dev.parley.cli.command.ClientFlags.KeyOrigin;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.command.Setting;
import dev.parley.cli.command.Settings.Source;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.keys.KeyManager;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.SecurityScheme;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Credentials that a command has for agents: those of its settings, or else kept keys, whose stores are opened when they are first needed.
 *
 * <p>Source: a2a-cli specification 0.2, section 12.
 */
final class AgentCredentials {
    /** Settings that decide which servers get credentials. */
    private static final List<String> DECIDING =
            List.of("agent-card", "key-service", "key-origin", "allow-origin", "ca", "insecure", "insecure-http");

    private final Invocation call;
    private @Nullable KeyManager kept;

    AgentCredentials(Invocation call) {
        this.call = call;
    }

    /**
     * Returns whether there are credentials for the agent, without regard to its card.
     *
     * @throws CommandException if a discovered .env file decides where credentials go that it does not hold
     */
    boolean areFor(String reference) {
        String service = call.agent().keyService();
        boolean hasCredentials =
                !call.credentials().isEmpty() || (service == null ? hasKeyAt(reference) : has(service));
        if (hasCredentials && isDecidedByLocalFile()) {
            throw CommandException.of(
                    Kind.ORIGIN_NOT_ALLOWED,
                    "a .env file that was found here or above decides where your credentials go: " + reference,
                    "to allow it, name the file with --config, or the agent with -a");
        }
        return hasCredentials;
    }

    /**
     * Whether a discovered .env file decides where credentials go that it does not hold: the file may have come with an untrusted
     * directory. With {@code --config} the user has named the file.
     */
    private boolean isDecidedByLocalFile() {
        return call.reports().config() == null
                && sources(DECIDING.stream().map(Setting::client)).contains(Source.LOCAL_FILE)
                && !sources(Setting.of(Credentials::read).stream()).equals(Set.of(Source.LOCAL_FILE));
    }

    /** The sources of settings that are given. */
    private Set<Source> sources(Stream<Setting> settings) {
        return settings.map(call.settings()::source)
                .filter(source -> source != Source.DEFAULT)
                .collect(Collectors.toSet());
    }

    /** Returns whether there are keys that may go to {@code url}: of its host, or of a service that is allowed there. */
    private boolean hasKeyAt(String url) {
        return KeyManager.serviceId(url)
                .map(host -> Stream.concat(
                                Stream.of(host),
                                call.agent().keyOrigins().stream()
                                        .filter(one -> HttpUrl.of(one.origin())
                                                .origin()
                                                .equals(HttpUrl.of(url).origin()))
                                        .map(KeyOrigin::service))
                        .anyMatch(this::has))
                .orElse(false);
    }

    private boolean has(String service) {
        return kept().apiKey(service).isPresent() || kept().oauthClient(service).isPresent();
    }

    private KeyManager kept() {
        if (kept == null) {
            kept = Keys.of(call);
        }
        return kept;
    }

    /** Has the client send the credentials that the card requires; warns of those that it does not take. Returns whether there are any. */
    boolean addTo(AgentClientBuilder client, AgentCard card) {
        Credentials given = call.credentials();
        Collection<SecurityScheme> schemes = card.securitySchemes().values();
        boolean sent = false;
        if (given.bearer() != null) {
            if (schemes.isEmpty() || schemes.stream().anyMatch(AgentCredentials::takesBearer)) {
                client.bearer(given.bearer());
                sent = true;
            } else {
                call.output().warn("the bearer token is not sent: the agent's card declares no scheme that takes one");
            }
        }
        if (given.apiKey() != null) {
            if (schemes.stream().anyMatch(SecurityScheme.ApiKey.class::isInstance)) {
                client.apiKey(given.apiKey());
                sent = true;
            } else {
                call.output().warn("the API key is not sent: the agent's card does not say where it belongs");
            }
        }
        if (given.bearer() == null && given.apiKey() == null && !schemes.isEmpty()) {
            sent = addKeysTo(client, card);
        }
        for (var file : call.settings().exposedFiles()) {
            call.output().warn(file + " holds credentials and others may read it: chmod 600 " + file);
        }
        if (sent && call.tls().insecure()) {
            call.output().warn("CREDENTIALS ARE SENT WITHOUT VERIFYING WHO RECEIVES THEM (--insecure)");
        }
        return sent;
    }

    /** Has the client send kept keys, and returns whether there are any for this agent. */
    private boolean addKeysTo(AgentClientBuilder client, AgentCard card) {
        String service = call.agent().keyService();
        if (service != null) {
            client.keys(kept(), service);
            return has(service);
        }
        client.keys(kept());
        call.agent().keyOrigins().forEach(one -> client.keyOrigin(one.service(), one.origin()));
        return card.supportedInterfaces().stream().anyMatch(at -> hasKeyAt(at.url()));
    }

    private static boolean takesBearer(SecurityScheme scheme) {
        return switch (scheme) {
            case SecurityScheme.HttpAuth http -> http.scheme().equalsIgnoreCase("bearer");
            case SecurityScheme.OAuth2 oauth -> true;
            case SecurityScheme.OpenIdConnect connect -> true;
            case SecurityScheme.ApiKey key -> false;
            case SecurityScheme.MutualTls tls -> false;
        };
    }
}
