package dev.parley.cli.connection;

import dev.parley.cli.command.ClientFlags;
import dev.parley.cli.command.HttpAddress;
import dev.parley.cli.command.Invocation;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.HttpDocument;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the card that a reference means. Credentials are not sent, because only the card declares which are required.
 *
 * <p>Source: a2a-cli specification 0.2, section 10.1.
 */
public final class CardReferences {
    /**
     * A card and its place.
     *
     * @param place the URL or file it came from
     * @param url the same; null for a file
     */
    public record Found(
            byte[] bytes, String place, @Nullable HttpUrl url) {
        /** The host that it came from, in lower case; null for a file. */
        @Nullable
        public String host() {
            return url == null ? null : url.uri().getHost();
        }

        public AgentCard card() {
            return read(Json::readCard, "parley card validate lists its faults");
        }

        /** The whole card, with members that no specification defines. */
        @SuppressWarnings("unchecked") // a JSON object has string keys
        public Map<String, @Nullable Object> tree() {
            return (Map<String, @Nullable Object>)
                    read(json -> Json.read(json, Map.class), "name the card itself with -a, not a page about it");
        }

        private <T> T read(Function<byte[], T> form, String hint) {
            try {
                return form.apply(bytes);
            } catch (A2AException malformed) {
                throw CommandException.of(
                        Kind.CARD_INVALID, place + " is not an agent card: " + malformed.getMessage(), hint, malformed);
            }
        }
    }

    private CardReferences() {}

    /**
     * Returns the card that {@code reference} means: a file, a card's URL, an agent's URL, an origin or a host.
     *
     * @param credentials whether the command has some for the agent, which a card that was changed on the way could take
     */
    static Found find(Invocation call, AgentClientBuilder client, String reference, boolean credentials) {
        Path file = file(call, reference);
        if (file != null) {
            return file(file);
        }
        Optional<RegistryReference> registered = RegistryReference.of(call, reference);
        return registered.isPresent() ? registered.get().card(client) : fetch(call, client, reference, credentials);
    }

    /** Returns the card in a file. */
    public static Found file(Path file) {
        try {
            return new Found(Files.readAllBytes(file), file.toString(), null);
        } catch (IOException unreadable) {
            throw notFound("cannot read the card " + file, "name a card file, an origin or a URL with -a");
        }
    }

    private static @Nullable Path file(Invocation call, String reference) {
        if (reference.startsWith("file:")) {
            try {
                return Path.of(URI.create(reference));
            } catch (IllegalArgumentException wrong) {
                throw notFound(reference + " is not a file URL", "write file:///path/to/card.json");
            }
        }
        if (reference.contains("://")) {
            return null;
        }
        boolean isPath = reference.matches("(/|\\./|\\.\\./|~).*");
        Path path = call.path(reference);
        return isPath || Files.isRegularFile(path) ? path : null;
    }

    private static HttpUrl url(String reference) {
        try {
            return HttpAddress.typed(reference);
        } catch (IllegalArgumentException wrong) {
            throw notFound(
                    "\"" + reference
                            + "\": not the address of an agent (expected: a host, an http or https URL, or a card file)",
                    "for example: -a " + ClientFlags.LOCAL_HUB);
        }
    }

    private static Found fetch(Invocation call, AgentClientBuilder client, String reference, boolean credentials) {
        HttpUrl url = url(reference);
        Requests.requirePrivate(call, url, credentials);
        HttpDocument document;
        try {
            document = Requests.read(Requests.unreachableHint(url.server()), () -> client.find(url));
        } catch (A2AException busy) {
            throw notFound("no agent card at " + busy.getMessage(), Problems.NO_CARD_HINT);
        } catch (ClientException redirected) {
            throw redirected.problem() == ClientException.Problem.REDIRECTED
                    ? notFound(String.valueOf(redirected.getMessage()), Problems.NO_CARD_HINT)
                    : redirected;
        }
        String place = document.url().uri().toString();
        if (document.status() != 200) {
            boolean unknown = document.status() == 401;
            throw Requests.refused(
                    Kind.CREDENTIALS_MISSING,
                    "the card at " + place + (unknown ? " is protected" : " is refused") + " (status "
                            + document.status() + ")",
                    document.status(),
                    document.body(),
                    (unknown ? "" : "if it requires credentials, ")
                            + "pass a header with --svc-param, or a copy of the card with -a card.json");
        }
        if (!new String(document.body(), StandardCharsets.UTF_8).stripLeading().startsWith("{")) {
            throw notFound("no agent card at " + place + " (no JSON)", Problems.NO_CARD_HINT);
        }
        return new Found(document.body(), place, document.url());
    }

    private static CommandException notFound(String message, String hint) {
        return CommandException.of(Kind.CARD_NOT_FOUND, message, hint);
    }
}
