package dev.parley.cli;

import static dev.parley.cli.Setting.Trait.REPEATABLE;
import static dev.parley.cli.Setting.Trait.SECRET;

import dev.parley.dialect.Dialects;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One row of the table of settings, from which flags, environment variables, file keys, help and {@code config show}
 * are made.
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

    /** Traits of a setting. */
    enum Trait {
        /** Never shown. */
        SECRET,
        /** The flag may be given several times. */
        REPEATABLE,
        /** Names a file of settings, so it cannot stand in one. */
        NOT_IN_FILES
    }

    private static final List<Setting<?>> ROWS = new ArrayList<>();

    private final Scope scope;
    private final String name;
    private final List<String> other;
    private final SettingType<T> type;
    private final @Nullable String fallback;
    private final String label;
    private final String description;
    private final Set<Trait> traits;

    private Setting(
            Scope scope,
            String name,
            List<String> other,
            SettingType<T> type,
            @Nullable String fallback,
            String label,
            String description,
            Set<Trait> traits) {
        this.scope = scope;
        this.name = name;
        this.other = other;
        this.type = type;
        this.fallback = fallback;
        this.label = label;
        this.description = description;
        this.traits = traits;
    }

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
            SettingType.JSON_OBJECT,
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

    // Running a hub.
    static final Setting<Integer> PORT =
            hub("port", SettingType.PORT, "7420", "N", "Port to listen on; 0 takes a free one.");
    static final Setting<String> BIND = hub(
            "bind",
            SettingType.TEXT,
            "127.0.0.1",
            "ADDRESS",
            "Address to listen on. Addresses other than loopback need TLS and authentication for every agent.");
    static final Setting<Integer> ADMIN_PORT = hub(
            "admin-port",
            SettingType.PORT,
            null,
            "N",
            "A separate port, the only one for operators and /metrics; 0 takes a free one.");
    static final Setting<String> ADMIN_BIND = hub(
            "admin-bind",
            SettingType.TEXT,
            "127.0.0.1",
            "ADDRESS",
            "Address of that port. Addresses other than loopback need TLS and authentication, as with --bind.");
    static final Setting<Path> DATA =
            hub("data", SettingType.PATH, "~/.parley", "DIR", "Directory of the database; made if missing.");
    static final Setting<String> DATABASE = hub(
            "database",
            SettingType.TEXT,
            null,
            "URL",
            "PostgreSQL 15 or newer instead of SQLite, as postgresql://user@host/name. Kept in the data directory, so that"
                    + " later starts and other commands find it. A flag is visible to other users: leave the password in"
                    + " ~/.pgpass, or use PARLEY_DATABASE.",
            SECRET);
    static final Setting<Boolean> IN_MEMORY =
            hub("in-memory", SettingType.FLAG, "false", "", "Keep tasks in memory only; they end with the process.");
    static final Setting<String> DEFAULT_AGENT = hub(
            "default-agent",
            SettingType.TEXT,
            null,
            "NAME",
            "Agent that also answers at the root; echo if it is hosted, else the first one.");
    static final Setting<List<String>> AGENTS = hub(
            "agents",
            SettingType.LIST,
            null,
            "JAR|DIR",
            "Host the agents found in this jar, or in the jars of this directory; repeatable.",
            REPEATABLE);
    static final Setting<Boolean> NO_DEMO =
            hub("no-demo", SettingType.FLAG, "false", "", "Do not host the demo agents.");
    static final Setting<List<String>> WEBHOOK_ALLOW = hub(
            "webhook-allow",
            SettingType.LIST,
            null,
            "HOST[,HOST]",
            "Hosts that webhooks may go to although they are not public.",
            REPEATABLE);
    static final Setting<URI> PUBLIC_URL = hub(
            "public-url", SettingType.HTTP_URL, null, "URL", "Address that cards show, if the hub is behind a proxy.");
    static final Setting<Long> MAX_BODY =
            hub("max-body", SettingType.SIZE, "10MB", "SIZE", "Limit of the size of a request.");
    static final Setting<Integer> MAX_TURNS = hub(
            "max-turns",
            SettingType.COUNT,
            "1000",
            "N",
            "Limit of messages of a caller to one agent within one context.");
    static final Setting<Integer> MAX_EVENTS = hub(
            "max-events",
            SettingType.COUNT,
            "100000",
            "N",
            "Limit of events of a task, such as pieces of its artifacts.");
    static final Setting<Long> MAX_TASK =
            hub("max-task", SettingType.SIZE, "64MB", "SIZE", "Approximate limit of the size of a task; at most 1GB.");
    static final Setting<Integer> MAX_CALL_DEPTH = hub(
            "max-call-depth",
            SettingType.COUNT,
            "8",
            "N",
            "Limit of agents in a call chain, in which each calls the next.");
    static final Setting<Duration> RETENTION =
            hub("retention", SettingType.DURATION, "0", "DURATION", "How long ended tasks are kept; 0 for ever.");
    static final Setting<List<String>> ENCRYPTION_KEY = hub(
            "encryption-key",
            SettingType.LIST,
            null,
            "KEY",
            "Encrypt the data directory's secrets by this key: 32 bytes as Base64; of several, the first encrypts, and the"
                    + " others are older ones. Do not set it on the command line, which other users can read.",
            REPEATABLE,
            SECRET);
    static final Setting<Path> ENCRYPTION_KEY_FILE = hub(
            "encryption-key-file",
            SettingType.PATH,
            null,
            "FILE",
            "The same from a file, one key in each line. Without either: encryption.key in the data directory.");
    static final Setting<Boolean> ENCRYPT_TASKS = hub(
            "encrypt-tasks",
            SettingType.FLAG,
            "false",
            "",
            "Also encrypt messages, artifacts and other contents of tasks on disk.");
    static final Setting<List<String>> CORS_ORIGIN = hub(
            "cors-origin",
            SettingType.LIST,
            null,
            "ORIGIN",
            "Web origin whose pages may call the hub; repeatable.",
            REPEATABLE);
    static final Setting<List<String>> ALLOWED_HOST = hub(
            "allowed-host",
            SettingType.LIST,
            null,
            "HOST[,HOST]",
            "Host name by which clients may call, besides localhost and that of --public-url; repeatable.",
            REPEATABLE);
    static final Setting<Path> TLS_CERT =
            hub("tls-cert", SettingType.PATH, null, "FILE", "Certificate chain (PEM); needs --tls-key too.");
    static final Setting<Path> TLS_KEY = hub("tls-key", SettingType.PATH, null, "FILE", "Private key (PEM).");
    static final Setting<Path> TLS_CLIENT_CA = hub(
            "tls-client-ca",
            SettingType.PATH,
            null,
            "FILE",
            "Certificate authority (PEM) of the certificates of callers, for --auth mutualTLS.");
    static final Setting<Duration> DRAIN =
            hub("drain", SettingType.DURATION, "10s", "DURATION", "Time that calls in progress have to end at a stop.");
    static final Setting<String> STATUS_PROFILE = hub(
            "status-profile",
            SettingType.oneOf("1.0.1", "1.0.0"),
            "1.0.1",
            "VERSION",
            "Revision of A2A 1.0 whose table of HTTP statuses the hub answers with.");
    static final Setting<String> KG_HTTP_STATUS = hub(
            "kg-http-status",
            SettingType.oneOf("legacy", "strict"),
            "legacy",
            "TABLE",
            "HTTP status of errors of knowledge/query and knowledge/update: legacy is 200, strict is their own.");
    static final Setting<Boolean> STRICT_VERSION_HEADER = hub(
            "strict-version-header",
            SettingType.FLAG,
            "false",
            "",
            "Treat requests without A2A-Version as 0.3, as the specification says.");
    static final Setting<List<String>> DIALECTS = hub(
            "dialects",
            SettingType.LIST,
            String.join(",", Dialects.NAMES),
            "LIST",
            "Dialects in which agents are served: " + String.join(", ", Dialects.NAMES) + ".");
    static final Setting<List<String>> AGENT_DIALECTS = hub(
            "agent-dialects",
            SettingType.LIST,
            null,
            "AGENT=A+B",
            "Other dialects for one agent, such as echo=1.0+0.3; repeatable.",
            REPEATABLE);
    static final Setting<List<String>> AUTH = hub(
            "auth",
            SettingType.LIST,
            "none",
            "LIST",
            "Credentials of callers, any one of: none, apiKey, bearer, oauth2, openIdConnect, mutualTLS, basic; required means apiKey,bearer.");
    static final Setting<List<String>> AUTH_SCOPES = hub(
            "auth-scopes", SettingType.LIST, null, "LIST", "Scopes that callers must have been granted, all of them.");
    static final Setting<List<String>> AGENT_AUTH = hub(
            "agent-auth",
            SettingType.LIST,
            null,
            "AGENT=A+B",
            "Credentials of the callers of one agent instead, such as echo=apiKey+oauth2; repeatable.",
            REPEATABLE);
    static final Setting<List<String>> AGENT_AUTH_SCOPES = hub(
            "agent-auth-scopes",
            SettingType.LIST,
            null,
            "AGENT=A+B",
            "Scopes that callers of an agent named by --agent-auth must have; repeatable.",
            REPEATABLE);
    static final Setting<Path> CALLERS = hub(
            "callers",
            SettingType.PATH,
            null,
            "FILE",
            "File of callers: JSON, each caller's name with its key, token or OAuth client. Others come from"
                    + " PARLEY_CALLER_<NAME>_API_KEY and the like.");
    static final Setting<List<String>> ISSUER = hub(
            "issuer",
            SettingType.LIST,
            null,
            "URL",
            "OpenID Connect provider whose tokens the hub accepts besides its own; repeatable.",
            REPEATABLE);
    static final Setting<List<String>> AUDIENCE = hub(
            "audience",
            SettingType.LIST,
            null,
            "LIST",
            "Audiences that tokens of other issuers may name, any one. Without it: the address of the hub.");
    static final Setting<String> GROUP_CLAIM = hub(
            "group-claim",
            SettingType.TEXT,
            null,
            "NAME",
            "Claim of other issuers' tokens that names the caller's group.");
    static final Setting<Path> POLICY = hub(
            "policy",
            SettingType.PATH,
            null,
            "FILE",
            "Permissions and limits of callers: JSON; see docs/authorization.md.");
    static final Setting<String> API_KEY_HEADER = hub(
            "api-key-header",
            SettingType.TEXT,
            "X-Api-Key",
            "NAME",
            "Header that cards name for API keys; X-Api-Key is taken besides.");
    static final Setting<String> AUDIT = hub(
            "audit",
            SettingType.oneOf("changes", "all"),
            "changes",
            "CALLS",
            "Calls that leave a row in the audit log: changes (and refusals), or all, with reads and queries.");
    static final Setting<Boolean> PROTECT_CARDS =
            hub("protect-cards", SettingType.FLAG, "false", "", "Show cards only to callers of the agent.");
    static final Setting<String> AUTH_SERVICE = hub(
            "auth-service",
            SettingType.TEXT,
            "parley",
            "ID",
            "Name under which clients of AgentVault keep their keys for this hub.");
    static final Setting<List<String>> CARD_KEY = hub(
            "card-key",
            SettingType.LIST,
            null,
            "FILE",
            "Sign cards by the key in this file, and publish it; of several files, the first key signs; repeatable. parley"
                    + " card key create makes one.",
            REPEATABLE);
    static final Setting<Boolean> GRPC_ON_CARDS = hub(
            "grpc-on-cards",
            SettingType.FLAG,
            "false",
            "",
            "List the gRPC interface on cards. Some clients of JSON-RPC refuse such cards.");
    static final Setting<Boolean> LENIENT_METHODS = hub(
            "lenient-methods",
            SettingType.FLAG,
            "false",
            "",
            "Answer methods of older versions even to a request that asks for A2A-Version 1.0.");
    static final Setting<Boolean> LENIENT_BODIES = hub(
            "lenient-bodies",
            SettingType.FLAG,
            "false",
            "",
            "Read messages as 0.3 spells them even under methods of 1.0.");
    static final Setting<Boolean> MERGED_LEGACY_ANSWERS = hub(
            "merged-legacy-answers",
            SettingType.FLAG,
            "false",
            "",
            "Answer calls that may be of 0.1 or 0.3 in a form that clients of both can read.");
    static final Setting<String> LOG_FORMAT = hub(
            "log-format",
            SettingType.oneOf("text", "json"),
            "text",
            "FORMAT",
            "Lines of the log on stderr: text, or json with the ids of task, context, message and trace.");
    static final Setting<URI> OTLP_ENDPOINT = hub(
            "otlp-endpoint",
            SettingType.HTTP_URL,
            null,
            "URL",
            "Send traces here, by OTLP over HTTP, such as http://127.0.0.1:4318; more by the variables OTEL_….");
    static final Setting<Path> HUB_CONFIG = hub(
            "config",
            SettingType.PATH,
            null,
            "FILE",
            "YAML file with these settings under the names of their flags.",
            Trait.NOT_IN_FILES);

    private static <T> Setting<T> hub(
            String name,
            SettingType<T> type,
            @Nullable String fallback,
            String label,
            String description,
            Trait... traits) {
        return row(Scope.HUB, name, List.of(), type, fallback, label, description, traits);
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
        var setting = new Setting<>(scope, name, other, type, fallback, label, description, Set.of(traits));
        ROWS.add(setting);
        return setting;
    }

    /** The whole table, in the order in which it is shown. */
    static List<Setting<?>> all() {
        return List.copyOf(ROWS);
    }

    /** The rows of one scope. */
    static List<Setting<?>> of(Scope scope) {
        return ROWS.stream().filter(row -> row.scope == scope).toList();
    }

    Scope scope() {
        return scope;
    }

    /** The long flag without its dashes, which is also the key in a hub's file. */
    String name() {
        return name;
    }

    /** Further spellings of the flag: a short one, aliases. */
    List<String> other() {
        return other;
    }

    SettingType<T> type() {
        return type;
    }

    /** The built-in default as text; null if there is none. */
    @Nullable
    String fallback() {
        return fallback;
    }

    /** Placeholder of the value in help. */
    String label() {
        return label;
    }

    String description() {
        return description;
    }

    /** The flag as it is typed. */
    String flag() {
        return "--" + name;
    }

    /** The environment variable, which is also the name in a dotenv file. */
    String variable() {
        return scope.variablePrefix + name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    /** How {@code config show} names the row, unique in the table. */
    String shownName() {
        return scope.shownPrefix + name;
    }

    boolean is(Trait trait) {
        return traits.contains(trait);
    }

    boolean isFlag() {
        return type.equals(SettingType.FLAG);
    }

    @Override
    public String toString() {
        return flag();
    }
}
