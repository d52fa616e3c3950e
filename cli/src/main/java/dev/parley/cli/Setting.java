package dev.parley.cli;

import static dev.parley.protocol.settings.SettingSpec.Trait.REPEATABLE;
import static dev.parley.protocol.settings.SettingSpec.Trait.SECRET;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec;
import dev.parley.protocol.settings.SettingSpec.Trait;
import dev.parley.protocol.settings.SettingType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Row of the table of settings, from which flags, environment variables, file keys, help and {@code config show} are made. The rows of
 * a hub come from the records of its modules.
 */
final class Setting<T> {

    /** Scope of a setting, which decides where it is read from. */
    enum Scope {
        /** Talking to an agent: {@code A2ACLI_…} in the environment and in dotenv files. */
        CLIENT("A2ACLI_", ""),
        /** Running a hub: {@code PARLEY_…} in the environment, plain keys in a YAML file. */
        HUB("PARLEY_", "up.");

        private final String variablePrefix;
        private final String shownPrefix;

        Scope(String variablePrefix, String shownPrefix) {
            this.variablePrefix = variablePrefix;
            this.shownPrefix = shownPrefix;
        }
    }

    private static final List<Setting<?>> ROWS = new ArrayList<>();

    private final Scope scope;
    private final List<String> other;
    private final SettingSpec<T> spec;

    private Setting(Scope scope, List<String> other, SettingSpec<T> spec) {
        this.scope = scope;
        this.other = other;
        this.spec = spec;
    }

    private static final SettingType<Map<String, @Nullable Object>> JSON_OBJECT =
            new SettingType<>("a JSON object such as {\"k\":\"v\"}", Setting::object);

    static final String LOCAL_HUB = "http://127.0.0.1:7420";

    // Talking to an agent.
    static final Setting<String> AGENT_CARD = row(
            Scope.CLIENT,
            "agent-card",
            List.of("-a"),
            SettingType.TEXT,
            LOCAL_HUB,
            "REF",
            "The agent: a host or origin, the URL of its card, or a card file.");
    static final Setting<List<String>> TRANSPORT = row(
            Scope.CLIENT,
            "transport",
            List.of(),
            SettingType.LIST,
            null,
            "BINDING",
            "Preferred binding (JSONRPC, HTTP+JSON, GRPC, or the URI of another), repeatable, highest first. Without it the card's order counts.",
            REPEATABLE);
    static final Setting<String> A2A_VERSION = row(
            Scope.CLIENT,
            "a2a-version",
            List.of(),
            SettingType.TEXT,
            null,
            "VERSION",
            "Protocol version to signal. Without it: the highest that both sides speak, never below 1.0.");
    static final Setting<String> OUTPUT = row(
            Scope.CLIENT,
            "output",
            List.of("-o"),
            SettingType.oneOf("text", "json"),
            "text",
            "FORMAT",
            "text: labelled lines; json: the protocol's own types.");
    static final Setting<Boolean> ASYNC = row(
            Scope.CLIENT,
            "async",
            List.of("--return-immediately", "--no-wait"),
            SettingType.FLAG,
            "false",
            "",
            "Return the identifiers at once. Default: wait.");
    static final Setting<Boolean> WAIT = row(
            Scope.CLIENT,
            "wait",
            List.of("--watch"),
            SettingType.FLAG,
            null,
            "",
            "Wait until the task has ended or needs its caller. Default of send; on task get it polls.");
    static final Setting<Duration> POLL_INTERVAL = row(
            Scope.CLIENT,
            "poll-interval",
            List.of(),
            SettingType.DURATION,
            "2s",
            "DURATION",
            "How often a wait reads the task; at least 100ms.");
    static final Setting<Duration> TIMEOUT = row(
            Scope.CLIENT,
            "timeout",
            List.of(),
            SettingType.DURATION,
            "10m",
            "DURATION",
            "How long a wait may take altogether; 0 for ever.");
    static final Setting<String> TASK_ID =
            row(Scope.CLIENT, "task-id", List.of(), SettingType.TEXT, null, "ID", "Continue this task.");
    static final Setting<String> CONTEXT_ID = row(
            Scope.CLIENT,
            "context-id",
            List.of(),
            SettingType.TEXT,
            null,
            "ID",
            "Group with the tasks of this context.");
    static final Setting<Map<String, @Nullable Object>> METADATA = row(
            Scope.CLIENT,
            "metadata",
            List.of(),
            JSON_OBJECT,
            null,
            "JSON",
            "Metadata in the payload of the request, a JSON object.");
    static final Setting<String> BEARER = row(
            Scope.CLIENT,
            "bearer",
            List.of(),
            SettingType.HEADER_VALUE,
            null,
            "TOKEN",
            "Bearer token. A flag is visible to other users and in the shell's history: prefer A2ACLI_BEARER.",
            SECRET);
    static final Setting<String> API_KEY = row(
            Scope.CLIENT,
            "api-key",
            List.of(),
            SettingType.HEADER_VALUE,
            null,
            "KEY",
            "API key, sent where the card says. A flag is visible to other users and in the shell's history: prefer"
                    + " A2ACLI_API_KEY.",
            SECRET);
    static final Setting<String> SVC_PARAM = row(
            Scope.CLIENT,
            "svc-param",
            List.of(),
            SettingType.TEXT,
            null,
            "K:V",
            "Service parameter, sent as an HTTP header; repeatable.",
            REPEATABLE,
            SECRET);
    static final Setting<String> TOKEN = row(
            Scope.CLIENT,
            "token",
            List.of(),
            SettingType.TEXT,
            null,
            "TOKEN",
            "Token that webhook calls carry. A flag is visible to others like --bearer: prefer A2ACLI_TOKEN.",
            SECRET);
    static final Setting<String> AUTH_CREDENTIALS = row(
            Scope.CLIENT,
            "auth-credentials",
            List.of(),
            SettingType.TEXT,
            null,
            "SECRET",
            "Credentials that webhook calls carry. A flag is visible to others: prefer A2ACLI_AUTH_CREDENTIALS.",
            SECRET);
    static final Setting<Path> KEYS_FILE = row(
            Scope.CLIENT,
            "keys-file",
            List.of(),
            SettingType.PATH,
            null,
            "FILE",
            "File of keys for agents, .env or .json; see docs/keys.md.");
    static final Setting<Boolean> KEYRING = row(
            Scope.CLIENT,
            "keyring",
            List.of(),
            SettingType.FLAG,
            "false",
            "",
            "Use the keyring of the operating system.");
    static final Setting<Path> ENCRYPTED_KEYS = row(
            Scope.CLIENT,
            "encrypted-keys",
            List.of(),
            SettingType.PATH,
            null,
            "FILE",
            "Use this encrypted file as the keyring.");
    static final Setting<Path> ENCRYPTED_KEYS_KEY = row(
            Scope.CLIENT,
            "encrypted-keys-key",
            List.of(),
            SettingType.PATH,
            null,
            "FILE",
            "File that opens the one of --encrypted-keys. Without it: A2ACLI_ENCRYPTED_KEYS_PASSPHRASE.");
    static final Setting<String> ENCRYPTED_KEYS_PASSPHRASE = row(
            Scope.CLIENT,
            "encrypted-keys-passphrase",
            List.of(),
            SettingType.TEXT,
            null,
            "TEXT",
            "Passphrase that opens the file of --encrypted-keys. A flag is visible to others: prefer"
                    + " A2ACLI_ENCRYPTED_KEYS_PASSPHRASE.",
            SECRET);
    static final Setting<String> KEY_SERVICE = row(
            Scope.CLIENT,
            "key-service",
            List.of(),
            SettingType.TEXT,
            null,
            "ID",
            "Service whose key the agent gets. Without it the agent's host, such as agents.example.com.");
    static final Setting<List<String>> KEY_ORIGIN = row(
            Scope.CLIENT,
            "key-origin",
            List.of(),
            SettingType.LIST,
            null,
            "ID=ORIGIN",
            "Send keys of this service to this origin if an AgentVault card there names the service, such as"
                    + " bank=https://agents.example.com; repeatable.",
            REPEATABLE);
    static final Setting<List<String>> ALLOW_ORIGIN = row(
            Scope.CLIENT,
            "allow-origin",
            List.of(),
            SettingType.LIST,
            null,
            "ORIGIN",
            "Call the agent, and send credentials, also at this origin if the card leads there; get OAuth tokens there;"
                    + " repeatable.",
            REPEATABLE);
    static final Setting<List<String>> TRUST = row(
            Scope.CLIENT,
            "trust",
            List.of(),
            SettingType.LIST,
            null,
            "FILE",
            "Keys by which cards have to be signed: a JWK set, a JWK, or a public key in PEM; repeatable.",
            REPEATABLE);
    static final Setting<String> CARD_SIGNATURES = row(
            Scope.CLIENT,
            "card-signatures",
            List.of(),
            SettingType.oneOf("off", "warn", "require"),
            null,
            "POLICY",
            "With --trust, handling of cards that are not signed by a trusted key: off uses them, warn warns, require"
                    + " refuses them. Default: require.");
    static final Setting<Boolean> INSECURE = row(
            Scope.CLIENT,
            "insecure",
            List.of(),
            SettingType.FLAG,
            "false",
            "",
            "Do not verify TLS certificates (development only). Default: verify.");
    static final Setting<Boolean> INSECURE_HTTP = row(
            Scope.CLIENT,
            "insecure-http",
            List.of(),
            SettingType.FLAG,
            "false",
            "",
            "Send credentials over plain HTTP to other machines, and call AgentVault agents there. Default: refuse.");
    static final Setting<Boolean> VERBOSE = row(
            Scope.CLIENT,
            "verbose",
            List.of(),
            SettingType.FLAG,
            "false",
            "",
            "Show everything that was exchanged with the agent, in text output. Default: concise.");
    static final Setting<Boolean> DEBUG = row(
            Scope.CLIENT,
            "debug",
            List.of(),
            SettingType.FLAG,
            "false",
            "",
            "Show on stderr what the tool does and every wire message, without secrets.");
    static final Setting<Path> CONFIG = row(
            Scope.CLIENT,
            "config",
            List.of(),
            SettingType.PATH,
            null,
            "FILE",
            "Dotenv file to read instead of the .env found from here upwards.",
            Trait.NOT_IN_FILES);

    // Running a hub: the file of all other settings, which are those of HubSettings and UpSettings.
    static final Setting<Path> HUB_CONFIG = new Setting<>(
            Scope.HUB,
            List.of(),
            new SettingSpec<>(
                    "config",
                    SettingType.PATH,
                    null,
                    "FILE",
                    "YAML file with these settings under the names of their flags.",
                    Set.of(Trait.NOT_IN_FILES)));

    /** The rows of a hub, collected while the records of settings are read; loaded when needed. */
    private static final class OfHub {
        private static final List<Setting<?>> ROWS = new ArrayList<>();

        static {
            UpSettings.readAll(new SettingReader() {
                @Override
                public <S> @Nullable S read(SettingSpec<S> spec) {
                    var row = ofHub(spec);
                    ROWS.add(row);
                    return row.spec.defaultValue();
                }
            });
            ROWS.add(HUB_CONFIG);
        }
    }

    private static <T> Setting<T> row(
            Scope scope,
            String name,
            List<String> other,
            SettingType<T> type,
            @Nullable String fallback,
            String label,
            String description,
            Trait... traits) {
        var setting = new Setting<>(
                scope, other, new SettingSpec<>(name, type, fallback, label, description, Set.of(traits)));
        ROWS.add(setting);
        return setting;
    }

    /** The row of a setting of a hub. This program keeps the data of hubs in the home directory. */
    static <T> Setting<T> ofHub(SettingSpec<T> spec) {
        return new Setting<>(Scope.HUB, List.of(), spec.name().equals("data") ? spec.withFallback("~/.parley") : spec);
    }

    /** The row of a hub's setting of that name. */
    static Setting<?> ofHub(String name) {
        return OfHub.ROWS.stream()
                .filter(row -> row.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** The whole table, in the order in which it is shown. */
    static List<Setting<?>> all() {
        return Stream.concat(ROWS.stream(), OfHub.ROWS.stream()).toList();
    }

    /** The rows of one scope. */
    static List<Setting<?>> of(Scope scope) {
        return List.copyOf(scope == Scope.HUB ? OfHub.ROWS : ROWS);
    }

    Scope scope() {
        return scope;
    }

    /** The long flag without its dashes, which is also the key in a hub's file. */
    String name() {
        return spec.name();
    }

    /** Further spellings of the flag: a short one, aliases. */
    List<String> other() {
        return other;
    }

    SettingType<T> type() {
        return spec.type();
    }

    /** The built-in default as text; null if there is none. */
    @Nullable
    String fallback() {
        return spec.fallback();
    }

    /** Placeholder of the value in help. */
    String label() {
        return spec.label();
    }

    String description() {
        return spec.description();
    }

    /** The flag as it is typed. */
    String flag() {
        return "--" + name();
    }

    /** The environment variable, which is also the name in a dotenv file. */
    String variable() {
        return scope.variablePrefix + name().toUpperCase(Locale.ROOT).replace('-', '_');
    }

    /** How {@code config show} names the row, unique in the table. */
    String shownName() {
        return scope.shownPrefix + name();
    }

    boolean is(Trait trait) {
        return spec.traits().contains(trait);
    }

    boolean isFlag() {
        return type().equals(SettingType.FLAG);
    }

    @SuppressWarnings("unchecked") // a JSON object has string keys
    private static Map<String, @Nullable Object> object(String text) {
        try {
            return (Map<String, @Nullable Object>) Json.read(text.getBytes(StandardCharsets.UTF_8), Map.class);
        } catch (A2AException malformed) {
            throw new IllegalArgumentException(malformed);
        }
    }

    @Override
    public String toString() {
        return flag();
    }
}
