package dev.parley.cli.connection;

import dev.parley.cli.command.ClientSettings;
import dev.parley.cli.command.HttpAddress;
import dev.parley.cli.output.CliException;
import dev.parley.cli.output.LocalError;
import dev.parley.cli.output.Problem;
import dev.parley.cli.output.Surroundings;
import dev.parley.client.spi.CardPlaces;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the card that a reference means. Credentials are not sent, because only the card declares which are required.
 *
 * <p>Source: a2a-cli specification 0.2, section 10.1.
 */
public final class CardSource {
    /**
     * A card and its place.
     *
     * @param place the URL or file it came from
     * @param origin of that URL; null for a file
     */
    public record Found(
            byte[] bytes, String place, @Nullable String origin) {
        /** The host that it came from, in lower case; null for a file. */
        @Nullable
        public String host() {
            return origin == null ? null : URI.create(place).getHost().toLowerCase(Locale.ROOT);
        }

        public AgentCard card() {
            try {
                return Json.readCard(bytes);
            } catch (A2AException malformed) {
                throw CliException.local(
                        LocalError.CARD_INVALID,
                        place + " is no agent card: " + malformed.getMessage(),
                        "parley card validate lists its faults",
                        malformed);
            }
        }

        /** The whole card, with members that no specification defines. */
        @SuppressWarnings("unchecked") // a JSON object has string keys
        public Map<String, @Nullable Object> tree() {
            try {
                return (Map<String, @Nullable Object>) Json.read(bytes, Map.class);
            } catch (A2AException malformed) {
                throw CliException.local(
                        LocalError.CARD_INVALID,
                        place + " is no agent card: " + malformed.getMessage(),
                        "name the card itself with -a, not a page about it",
                        malformed);
            }
        }
    }

    private final Surroundings around;
    private final PublicDocuments documents;
    private final Consumer<URI> check;

    /** @param check checks an address before a request is sent there, and throws to refuse it */
    CardSource(Surroundings around, PublicDocuments documents, Consumer<URI> check) {
        this.around = around;
        this.documents = documents;
        this.check = check;
    }

    /** Returns the card that {@code reference} means: a file, a card's URL, an agent's URL, an origin or a host. */
    public Found find(String reference) throws InterruptedException {
        Path file = file(reference);
        return file == null ? fetch(url(reference)) : file(file);
    }

    /** Returns the card in a file. */
    public static Found file(Path file) {
        try {
            return new Found(Files.readAllBytes(file), file.toString(), null);
        } catch (IOException unreadable) {
            throw notFound("cannot read the card " + file, "name a card file, an origin or a URL with -a");
        }
    }

    private @Nullable Path file(String reference) {
        if (reference.startsWith("file:")) {
            try {
                return Path.of(URI.create(reference));
            } catch (IllegalArgumentException wrong) {
                throw notFound(reference + " is no file URL", "write file:///path/to/card.json");
            }
        }
        if (reference.contains("://")) {
            return null;
        }
        boolean isPath = reference.matches("(/|\\./|\\.\\./|~).*");
        Path path = around.path(reference);
        return isPath || Files.isRegularFile(path) ? path : null;
    }

    private static URI url(String reference) {
        try {
            return HttpAddress.typed(reference);
        } catch (IllegalArgumentException wrong) {
            throw notFound(
                    reference + " is no address of an agent (expected: a host, an http or https URL, or a card file)",
                    "for example: -a " + ClientSettings.LOCAL_HUB);
        }
    }

    private Found fetch(URI url) throws InterruptedException {
        check.accept(url);
        var places = CardPlaces.of(url);
        var tried = new ArrayList<String>();
        for (URI place : places.places()) {
            String hint = place.toString().startsWith(ClientSettings.LOCAL_HUB + "/")
                    ? "start a hub with: parley up; or name another agent with -a"
                    : "check the address given with -a, and that the agent is running";
            PublicDocuments.Answer answer = documents.get(place, hint);
            if (answer.status() == 401 || answer.status() == 403) {
                throw new CliException(refused(place, answer));
            }
            if (answer.status() == 200 && answer.isObject()) {
                var found = new Found(answer.body(), place.toString(), HttpAddress.origin(place));
                if (isOf(places, place, found, tried.size())) {
                    return found;
                }
                tried.add(place + " (the card of another agent, or none)");
            } else {
                tried.add(place + (answer.status() == 200 ? " (no JSON)" : " (status " + answer.status() + ")"));
            }
        }
        throw notFound("no agent card at " + String.join(", ", tried), Problems.NO_CARD_HINT);
    }

    /** A document that is no card is one that is wrong, where the agent's own card has to be; elsewhere it is something else. */
    private static boolean isOf(CardPlaces places, URI place, Found found, int before) {
        try {
            return places.fits(place, Json.readCard(found.bytes()));
        } catch (A2AException malformed) {
            return places.isCard() || before < 2 && place.getPath().endsWith(".json");
        }
    }

    private static Problem refused(URI place, PublicDocuments.Answer answer) {
        boolean unknown = answer.status() == 401;
        String message = PublicDocuments.message(answer.body());
        return new Problem(
                LocalError.CREDENTIALS_MISSING.code(),
                LocalError.CREDENTIALS_MISSING.exitStatus(),
                "the card at " + place + (unknown ? " is protected" : " is refused") + " (status " + answer.status()
                        + ")" + (message.isEmpty() ? "" : ": " + message),
                (unknown ? "" : "if it requires credentials, ")
                        + "pass a header with --svc-param, or a copy of the card with -a card.json",
                answer.status());
    }

    private static CliException notFound(String message, String hint) {
        return CliException.local(LocalError.CARD_NOT_FOUND, message, hint);
    }
}
