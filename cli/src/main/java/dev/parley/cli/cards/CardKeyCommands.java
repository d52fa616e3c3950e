package dev.parley.cli.cards;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.HttpAddress;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.CardSignatures;
import dev.parley.cli.connection.Requests;
import dev.parley.cli.connection.WireLog;
import dev.parley.client.spi.HttpCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.settings.SettingType;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardKeys.Algorithm;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** {@code parley card key …}: the keys that sign cards. */
public final class CardKeyCommands {
    private static final Map<String, Algorithm> ALGORITHMS = Map.of("ES256", Algorithm.ES256, "EdDSA", Algorithm.EDDSA);

    private static final SettingType<String> ALGORITHM =
            SettingType.TEXT.requiring(ALGORITHMS::containsKey, "ES256 or EdDSA");

    /** Endings of key files: a name that ends like this is never a host. */
    private static final Pattern FILE = Pattern.compile("(/|\\./|\\.\\./|~).*|[^/:]+\\.json");

    private static final int MAX_SET_BYTES = 1 << 20;

    private CardKeyCommands() {}

    public static Command create() {
        return Command.of(CardKeyCommands::create)
                .argument("FILE", "File to create; it must not exist.")
                .option("--alg", "ALGORITHM", "ES256 or EdDSA. Default: ES256.")
                .option("--expires", "DURATION", "Time until the key expires, such as 365d.")
                .settings("output");
    }

    private static int create(Invocation call) {
        Path file = call.path(call.requiredArgument(0));
        String named = requireNonNullElse(call.option("--alg", ALGORITHM), "ES256");
        Algorithm algorithm = requireNonNull(ALGORITHMS.get(named));
        Duration life = call.option("--expires", SettingType.DURATION);
        var row = new LinkedHashMap<String, @Nullable Object>();
        row.put(
                "keyId",
                CommandException.reading(
                        "",
                        "name a new file in a directory that exists",
                        () -> CardKeys.create(
                                file,
                                algorithm,
                                life == null ? null : Instant.now().plus(life))));
        row.put("algorithm", named);
        row.put("file", file.toString());
        call.output().members(row);
        call.output()
                .note("keep this file secret; print the public key for clients by: parley card key public "
                        + Invocation.quoted(call.requiredArgument(0)));
        return 0;
    }

    public static Command publicHalf() {
        return Command.of(call -> {
                    call.output()
                            .json(CardSignatures.keys(call, List.of(call.requiredArgument(0)))
                                    .published());
                    return 0;
                })
                .argument("FILE", "The file of the key: a JWK, a JWK set, or PEM.")
                .settings("output");
    }

    /** Fetches the keys that a host publishes, as keys that are trusted for that host. */
    public static Command fetch() {
        return Command.of(CardKeyCommands::fetch)
                .argument("HOST", "Publisher of the keys: a host, an origin, or the URL of the set; or a file.")
                .option("--host", "HOST[,HOST]", "Hosts whose cards the keys may sign. Default: the host of the set.")
                .settings("ca", "insecure", "svc-param", "config", "debug");
    }

    private static int fetch(Invocation call) {
        String named = call.requiredArgument(0);
        HttpUrl set = FILE.matcher(named).matches() ? null : place(named);
        List<String> hosts = hosts(call.option("--host"), named);
        byte[] keys = set == null ? read(call.path(named)) : fetched(call, set);
        call.output()
                .json(CommandException.reading(
                        (set == null ? named : set.uri()) + ": ",
                        "name a host that publishes keys",
                        () -> CardTrust.entry(new String(keys, StandardCharsets.UTF_8), hosts)));
        call.output()
                .note("trusted for cards of " + String.join(", ", hosts)
                        + " with --trust; confirm them with their owner");
        return 0;
    }

    /** The address of the key set of a host or URL. */
    private static HttpUrl place(String named) {
        HttpUrl url;
        try {
            url = HttpAddress.typed(named);
        } catch (IllegalArgumentException wrong) {
            throw noPlace(named);
        }
        if (named.contains("?") || named.contains("#")) {
            throw noPlace(named);
        }
        if (url.isPlain()) {
            throw CommandException.usage(
                    "keys from " + url.server()
                            + " could be replaced on the network (expected: https, or this machine)",
                    "use https, or get the file through a channel that you trust: ./keys.json --host HOST");
        }
        String text = url.uri().toString();
        return text.endsWith(".json") ? url : HttpUrl.of(text.replaceFirst("/+$", "") + CardKeys.PATH);
    }

    private static CommandException noPlace(String named) {
        return CommandException.usage(
                named + ": no publisher of keys (expected: a host, or an https URL without user, query and fragment)",
                "a file is named such as ./keys.json");
    }

    private static List<String> hosts(@Nullable String typed, String named) {
        if (typed == null) {
            if (FILE.matcher(named).matches()) {
                throw CommandException.usage(named + ": a file, which names no host", "name the hosts: --host HOST");
            }
            return List.of(host(URI.create(named.contains("://") ? named : "https://" + named)
                    .getHost()));
        }
        List<String> hosts = SettingType.LIST.parser().apply(typed).stream()
                .map(CardKeyCommands::host)
                .toList();
        if (hosts.isEmpty()) {
            throw CommandException.usage("invalid --host: none (expected: one host at least)", null);
        }
        return hosts;
    }

    /** Returns a host in the form of those of cards; another form would match no card. */
    private static String host(String text) {
        String host = text.toLowerCase(Locale.ROOT);
        try {
            if (!host.endsWith(".") && host.equals(URI.create("https://" + host).getHost())) {
                return host;
            }
        } catch (IllegalArgumentException wrong) {
            // Refused below.
        }
        throw CommandException.usage(
                "invalid host: " + text + " (expected: such as agents.example.com, without scheme, port and wildcards)",
                null);
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException unreadable) {
            throw CommandException.usage("cannot read " + file, "name a file of keys, or the host that publishes them");
        }
    }

    private static byte[] fetched(Invocation call, HttpUrl set) {
        HttpCall.Answer answer = Requests.get(
                Requests.agent(call, WireLog.of(call)).maxAnswerBytes(MAX_SET_BYTES),
                set.uri().toString(),
                "check the host, and that it publishes keys by https");
        if (answer.status() != 200) {
            throw Requests.refused(
                    Kind.INTERNAL,
                    "no keys at " + set.uri() + " (status " + answer.status() + ")",
                    answer.status(),
                    answer.body(),
                    "name the host that publishes keys, or the URL of the set");
        }
        return answer.body();
    }
}
