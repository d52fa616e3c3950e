package dev.parley.cli.command;

import static dev.parley.protocol.settings.SettingSpec.Trait.NOT_IN_FILES;
import static dev.parley.protocol.settings.SettingSpec.Trait.REPEATABLE;
import static dev.parley.protocol.settings.SettingSpec.Trait.SECRET;
import static dev.parley.protocol.settings.SettingType.DURATION;
import static dev.parley.protocol.settings.SettingType.FLAG;
import static dev.parley.protocol.settings.SettingType.HEADER_VALUE;
import static dev.parley.protocol.settings.SettingType.PATH;
import static dev.parley.protocol.settings.SettingType.TEXT;
import static java.util.Objects.requireNonNullElse;

import dev.parley.client.keys.KeyManager;
import dev.parley.command.CommandException;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Settings of commands that call agents, a record for each concern. A command reads those that it needs. */
public final class ClientFlags {
    /** Default agent and hub: the address of {@code parley up}. */
    public static final String LOCAL_HUB = "http://127.0.0.1:7420";

    /** A text for each flag, which may hold commas. */
    static final SettingType<List<String>> LINES =
            new SettingType<>("name:value", text -> text.lines().toList());

    private static final SettingType<String> VERSION =
            TEXT.requiring(text -> text.matches("\\d+\\.\\d+(\\.\\d+)?"), "such as 1.0");
    private static final SettingType<String> SERVICE =
            TEXT.requiring(KeyManager::isServiceId, "the id of a service, such as bank");
    private static final SettingType<List<String>> BINDINGS =
            listOf(ClientFlags::binding, "JSONRPC, HTTP+JSON, GRPC or the URI of a binding");
    private static final SettingType<List<String>> ORIGINS =
            listOf(text -> HttpAddress.origin(text), "such as https://agents.example.com");
    private static final SettingType<List<KeyOrigin>> KEY_ORIGINS =
            listOf(KeyOrigin::of, "such as bank=https://agents.example.com");
    private static final SettingType<Map<String, @Nullable Object>> JSON_OBJECT =
            new SettingType<>("a JSON object such as {\"k\":\"v\"}", ClientFlags::object);

    private ClientFlags() {}

    /** Reads all settings, in the order in which they are shown. */
    static List<Object> readAll(SettingReader in) {
        return List.of(
                Agent.read(in),
                Request.read(in),
                Tls.read(in),
                Credentials.read(in),
                KeyStore.read(in),
                Reports.read(in));
    }

    /** The agent and the conditions under which it is called. */
    public record Agent(
            String card,
            @Nullable String registry,
            List<String> transports,
            @Nullable String a2aVersion,
            @Nullable String keyService,
            List<KeyOrigin> keyOrigins,
            List<String> allowedOrigins,
            List<String> trust,
            @Nullable String cardSignatures,
            boolean insecureHttp) {
        public static Agent read(SettingReader in) {
            return new Agent(
                    in.get(
                            TEXT,
                            "agent-card",
                            LOCAL_HUB,
                            "REF",
                            "The agent: a host or origin, the URL of its card, a card file, or the URN or readable id"
                                    + " (org/agent) that a registry has."),
                    in.find(
                            TEXT,
                            "registry",
                            "HUB",
                            "Registry that has the agent, if it is named by a URN or readable id. Without it:"
                                    + " AGENTVAULT_REGISTRY_URL, or " + LOCAL_HUB + "."),
                    in.list(
                            BINDINGS,
                            "transport",
                            "BINDING",
                            "Preferred binding (JSONRPC, HTTP+JSON, GRPC, or the URI of another), repeatable, highest"
                                    + " first. Without it the card's order counts.",
                            REPEATABLE),
                    in.find(
                            VERSION,
                            "a2a-version",
                            "VERSION",
                            "Protocol version to signal. Without it: the highest that both sides speak, never below"
                                    + " 1.0."),
                    in.find(
                            SERVICE,
                            "key-service",
                            "ID",
                            "Service whose key the agent gets. Without it the agent's host, such as"
                                    + " agents.example.com."),
                    readKeyOrigins(in),
                    in.list(
                            ORIGINS,
                            "allow-origin",
                            "ORIGIN",
                            "Call the agent, and send credentials, also at this origin if the card leads there; get"
                                    + " OAuth tokens there; repeatable.",
                            REPEATABLE),
                    in.list(
                            "trust",
                            "FILE",
                            "Keys by which cards have to be signed: a JWK set, a JWK, or a public key in PEM;"
                                    + " repeatable.",
                            REPEATABLE),
                    in.find(
                            SettingType.oneOf("off", "warn", "require"),
                            "card-signatures",
                            "POLICY",
                            "With --trust, handling of cards that are not signed by a trusted key: off uses them, warn"
                                    + " warns, require refuses them. Default: require."),
                    in.flag(
                            "insecure-http",
                            "Send credentials over plain HTTP to other machines, and call AgentVault agents there."
                                    + " Default: refuse."));
        }
    }

    private static List<KeyOrigin> readKeyOrigins(SettingReader in) {
        return in.list(
                KEY_ORIGINS,
                "key-origin",
                "ID=ORIGIN",
                "Send keys of this service to this origin if an AgentVault card there names the service,"
                        + " such as bank=https://agents.example.com; repeatable.",
                REPEATABLE);
    }

    /** Servers whose certificates are accepted. */
    public record Tls(List<String> authorities, boolean insecure) {
        public static Tls read(SettingReader in) {
            return new Tls(
                    in.list(
                            "ca",
                            "FILE",
                            "Trust servers with certificates of these authorities too: certificates in PEM; repeatable.",
                            REPEATABLE),
                    in.flag("insecure", "Do not verify TLS certificates (development only). Default: verify."));
        }
    }

    /** The request, and how long to wait for the task. */
    public record Request(
            @Nullable String taskId,
            @Nullable String contextId,
            Map<String, @Nullable Object> metadata,
            boolean async,
            boolean waits,
            Duration pollInterval,
            Duration timeout,
            @Nullable String token,
            @Nullable String authCredentials) {
        public static Request read(SettingReader in) {
            return new Request(
                    in.find(TEXT, "task-id", "ID", "Continue this task."),
                    in.find(TEXT, "context-id", "ID", "Group with the tasks of this context."),
                    requireNonNullElse(
                            in.find(
                                    JSON_OBJECT,
                                    "metadata",
                                    "JSON",
                                    "Metadata in the payload of the request, a JSON object."),
                            Map.of()),
                    in.flag("async", "Return the identifiers at once. Default: wait."),
                    Boolean.TRUE.equals(in.find(
                            FLAG,
                            "wait",
                            "",
                            "Wait until the task has ended or waits for its caller. Default of send; on task get"
                                    + " it polls.")),
                    in.get(
                            DURATION.requiring(
                                    pause -> pause.toMillis() >= 100, "a duration of at least 100ms, such as 2s"),
                            "poll-interval",
                            "2s",
                            "DURATION",
                            "Interval at which a wait reads the task; at least 100ms."),
                    in.get(DURATION, "timeout", "10m", "DURATION", "Limit of a wait altogether; 0 for none."),
                    in.find(
                            TEXT,
                            "token",
                            "TOKEN",
                            "Token that webhook calls carry. A flag is visible to others like --bearer: prefer"
                                    + " A2ACLI_TOKEN.",
                            SECRET),
                    in.find(
                            TEXT,
                            "auth-credentials",
                            "SECRET",
                            "Credentials that webhook calls carry. A flag is visible to others: prefer"
                                    + " A2ACLI_AUTH_CREDENTIALS.",
                            SECRET));
        }

        /** The limit of a wait; a practically endless one if the setting is 0. */
        public Duration limit() {
            return timeout.isZero() ? Duration.ofDays(3650) : timeout;
        }
    }

    /** Credentials and headers of each request. */
    public record Credentials(
            @Nullable String bearer, @Nullable String apiKey, List<String> parameters) {
        public static Credentials read(SettingReader in) {
            return new Credentials(
                    in.find(
                            HEADER_VALUE,
                            "bearer",
                            "TOKEN",
                            "Bearer token. A flag is visible to other users and in the shell's history: prefer"
                                    + " A2ACLI_BEARER.",
                            SECRET),
                    in.find(
                            HEADER_VALUE,
                            "api-key",
                            "KEY",
                            "API key, sent where the card says. A flag is visible to other users and in the shell's"
                                    + " history: prefer A2ACLI_API_KEY.",
                            SECRET),
                    in.list(
                            LINES,
                            "svc-param",
                            "K:V",
                            "Service parameter, sent as an HTTP header; repeatable.",
                            REPEATABLE,
                            SECRET));
        }

        /** True if there are none. */
        public boolean isEmpty() {
            return bearer == null && apiKey == null && headers().isEmpty();
        }

        /** The headers of {@code --svc-param}. */
        public Map<String, String> headers() {
            var headers = new LinkedHashMap<String, String>();
            for (String text : parameters) {
                int colon = text.indexOf(':');
                String name = colon < 0 ? "" : text.substring(0, colon).strip();
                if (!name.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]+")) {
                    throw CommandException.usage(
                            "invalid --svc-param (expected: name:value, such as x-trace-id:abc)", null);
                }
                if (name.equalsIgnoreCase("A2A-Version")) {
                    throw CommandException.usage("--svc-param sets A2A-Version", "use --a2a-version");
                }
                try {
                    headers.put(
                            name,
                            HEADER_VALUE
                                    .parser()
                                    .apply(text.substring(colon + 1).strip()));
                } catch (IllegalArgumentException wrong) {
                    throw CommandException.usage(
                            "invalid --svc-param " + name + ": its value (expected: " + HEADER_VALUE.expected() + ")",
                            null);
                }
            }
            return headers;
        }
    }

    /** Stores of keys for agents. */
    public record KeyStore(
            @Nullable Path file,
            boolean keyring,
            @Nullable Path encrypted,
            @Nullable Path encryptedKey,
            @Nullable String passphrase) {
        public static KeyStore read(SettingReader in) {
            return new KeyStore(
                    in.find(PATH, "keys-file", "FILE", "File of keys for agents, .env or .json; see docs/keys.md."),
                    in.flag("keyring", "Use the keyring of the operating system."),
                    in.find(PATH, "encrypted-keys", "FILE", "Use this encrypted file as the keyring."),
                    in.find(
                            PATH,
                            "encrypted-keys-key",
                            "FILE",
                            "File that opens the one of --encrypted-keys. Without it:"
                                    + " A2ACLI_ENCRYPTED_KEYS_PASSPHRASE."),
                    in.find(
                            TEXT,
                            "encrypted-keys-passphrase",
                            "TEXT",
                            "Passphrase that opens the file of --encrypted-keys. A flag is visible to others: prefer"
                                    + " A2ACLI_ENCRYPTED_KEYS_PASSPHRASE.",
                            SECRET));
        }
    }

    /** Output of the program, and the file of the other settings. */
    public record Reports(
            String output,
            boolean verbose,
            boolean debug,
            @Nullable Path config) {
        public static Reports read(SettingReader in) {
            return new Reports(
                    in.get(
                            SettingType.oneOf("text", "json"),
                            "output",
                            "text",
                            "FORMAT",
                            "text: labelled lines; json: the protocol's own types."),
                    in.flag(
                            "verbose",
                            "Show the whole exchange with the agent in text output; of up, log lines of level INFO."
                                    + " Default: concise."),
                    in.flag("debug", "Log all levels and every wire message to stderr, without secrets."),
                    in.find(
                            PATH,
                            "config",
                            "FILE",
                            "Dotenv file to read instead of the .env found from here upwards.",
                            NOT_IN_FILES));
        }
    }

    private static <E> SettingType<List<E>> listOf(Function<String, E> element, String expected) {
        return new SettingType<>(
                expected,
                text -> SettingType.LIST.parser().apply(text).stream()
                        .map(element)
                        .toList());
    }

    private static String binding(String text) {
        String name = text.toUpperCase(Locale.ROOT).replaceFirst("^REST$", AgentCard.Interface.HTTP_JSON);
        return switch (name) {
            case AgentCard.Interface.JSONRPC, AgentCard.Interface.HTTP_JSON, AgentCard.Interface.GRPC -> name;
            default -> {
                if (!text.contains("://")) {
                    throw new IllegalArgumentException();
                }
                yield text;
            }
        };
    }

    /** An origin to which keys of a service may go if an AgentVault card names the service. */
    public record KeyOrigin(String service, String origin) {
        private static KeyOrigin of(String text) {
            int equals = text.indexOf('=');
            String service = text.substring(0, Math.max(0, equals));
            if (!KeyManager.isServiceId(service)) {
                throw new IllegalArgumentException();
            }
            return new KeyOrigin(service, HttpAddress.origin(text.substring(equals + 1)));
        }
    }

    @SuppressWarnings("unchecked") // a JSON object has string keys
    private static Map<String, @Nullable Object> object(String text) {
        try {
            return (Map<String, @Nullable Object>) Json.read(text.getBytes(StandardCharsets.UTF_8), Map.class);
        } catch (A2AException malformed) {
            throw new IllegalArgumentException(malformed);
        }
    }
}
