package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.command.Setting;
import dev.parley.cli.command.Settings;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.cli.output.Interruption;
import dev.parley.dialect.Json;
import dev.parley.protocol.settings.SettingType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where settings come from, and how {@code config show} tells it. */
class SettingsTest {
    @TempDir
    Path directory;

    private Shell shell;

    @BeforeEach
    void start() {
        shell = new Shell(directory.resolve("work/deep"));
    }

    private Path write(String name, String text) throws IOException {
        Path file = directory.resolve("work").resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    private String shown(String setting, String... args) {
        var all = new java.util.ArrayList<>(java.util.List.of("config", "show"));
        all.addAll(java.util.List.of(args));
        Shell.Ran ran = shell.run(all.toArray(String[]::new));
        assertThat(ran.err()).isEmpty();
        return ran.out()
                .lines()
                .filter(line -> line.startsWith(setting + ": "))
                .findFirst()
                .orElseThrow();
    }

    @Test
    @Tag("A2ACLI_CONFIG_002")
    void theCloserSourceWins() throws IOException {
        Path global = shell.home().resolve(".config/a2a-cli/.env");
        Files.createDirectories(global.getParent());

        assertThat(shown("poll-interval")).isEqualTo("poll-interval: 2s (built-in default)");

        Files.writeString(global, "A2ACLI_POLL_INTERVAL=3s\n");
        assertThat(shown("poll-interval")).isEqualTo("poll-interval: 3s (" + global + ")");

        Path local = write(".env", "FOREIGN LINE\nexport A2ACLI_POLL_INTERVAL=\"4s\" \n# a note\n");
        assertThat(shown("poll-interval")).isEqualTo("poll-interval: 4s (" + local + ")");

        Path named = write("agent.env", "A2ACLI_POLL_INTERVAL=5s\n");
        assertThat(shown("poll-interval", "--config", named.toString())).isEqualTo("poll-interval: 5s (" + named + ")");

        shell.with("A2ACLI_POLL_INTERVAL", "6s");
        assertThat(shown("poll-interval")).isEqualTo("poll-interval: 6s (environment variable A2ACLI_POLL_INTERVAL)");
        assertThat(shown("poll-interval", "--poll-interval", "7s")).isEqualTo("poll-interval: 7s (flag)");
    }

    @Test
    void aHubHasItsOwnVariablesAndItsOwnFile() throws IOException {
        Path file = write("hub.yaml", "port: 8001\nno-demo: true\nwebhook-allow: [localhost, 10.0.0.1]\n");

        assertThat(shown("up.port")).isEqualTo("up.port: 7420 (built-in default)");
        assertThat(shown("up.port", "--config", file.toString())).isEqualTo("up.port: 8001 (" + file + ")");
        assertThat(shown("up.webhook-allow", "--config", file.toString()))
                .isEqualTo("up.webhook-allow: localhost,10.0.0.1 (" + file + ")");
        shell.with("PARLEY_PORT", "8002");
        assertThat(shown("up.port", "--config", file.toString()))
                .isEqualTo("up.port: 8002 (environment variable PARLEY_PORT)");
        assertThat(shown("up.port", "--port", "8003")).isEqualTo("up.port: 8003 (flag)");
    }

    @Test
    void theAddressThatKubernetesSetsForAServiceIsNotThePortOfAHub() {
        shell.with("PARLEY_PORT", "tcp://10.0.0.1:7420");

        assertThat(shown("up.port")).isEqualTo("up.port: 7420 (built-in default)");
    }

    @Test
    void aRunningHubTellsItsSettingsAndTheirSources() throws Exception {
        Path file = write("hub.yaml", "retention: 30d\n");
        try (var hub = new RunningHub(
                directory.resolve("hub"),
                Map.of(
                        "PARLEY_DRAIN",
                        "3s",
                        "PARLEY_DATA",
                        directory.resolve("data").toString()),
                "--config",
                file.toString(),
                "--log-format",
                "text")) {
            String told =
                    shell.run("config", "hub", "--url", hub.url(), "-o", "json").out();
            var rows = new HashMap<String, String>();
            for (Object each : (List<?>)
                    requireNonNull(Json.read(told.getBytes(UTF_8), Map.class).get("settings"))) {
                Map<?, ?> row = (Map<?, ?>) each;
                rows.put(
                        String.valueOf(row.get("name")),
                        row.get("value") + " " + row.get("source") + " " + row.get("origin"));
            }

            assertThat(rows)
                    .containsEntry("drain", "3s environment PARLEY_DRAIN")
                    .containsEntry("retention", "30d file " + file)
                    .containsEntry("log-format", "text flag null")
                    .containsEntry("bind", "127.0.0.1 default null")
                    .containsEntry("database", "null default null");
        }
    }

    @Test
    @Tag("A2ACLI_CONFIG_001")
    void secretsAreNeverShown() {
        shell.with("A2ACLI_BEARER", "hidden-value");

        Shell.Ran text = shell.run("config", "show", "--api-key", "hidden-value");
        Shell.Ran json = shell.run("config", "show", "--svc-param", "x:hidden-value", "-o", "json");

        assertThat(text.out() + json.out() + text.err() + json.err()).doesNotContain("hidden-value");
        assertThat(text.out()).contains("bearer: [redacted] (environment variable A2ACLI_BEARER)");
        assertThat(json.out())
                .contains("{\"name\":\"agent-card\",\"value\":\"http://127.0.0.1:7420\",\"source\":\"default\","
                        + "\"origin\":null}")
                .contains("{\"name\":\"bearer\",\"value\":\"[redacted]\",\"source\":\"environment\",\"origin\":"
                        + "\"A2ACLI_BEARER\"}");
    }

    @Test
    void whatCannotBeInAHeaderIsAUsageError() {
        for (String option : List.of("--api-key", "--bearer")) {
            Shell.Ran ran = shell.run("audit", "tail", "--url", "http://127.0.0.1:1", option, "secret\nvalue");

            assertThat(ran.status()).as(ran.err()).isEqualTo(2);
            assertThat(ran.err())
                    .contains("invalid " + option + ": its value (expected: at most 8192 printable ASCII characters)")
                    .doesNotContain("secret");
        }
        Shell.Ran parameter =
                shell.run("audit", "tail", "--url", "http://127.0.0.1:1", "--svc-param", "x-note:secr\u00e9t");

        assertThat(parameter.status()).as(parameter.err()).isEqualTo(2);
        assertThat(parameter.err())
                .contains("invalid --svc-param x-note: its value")
                .doesNotContain("secr");
    }

    @Test
    void everyDefaultIsHere() {
        Shell.Ran ran = shell.run("config", "show");

        assertThat(ran.out()).isEqualTo("""
                agent-card: http://127.0.0.1:7420 (built-in default)
                registry: (unset)
                transport: (unset)
                a2a-version: (unset)
                key-service: (unset)
                key-origin: (unset)
                allow-origin: (unset)
                trust: (unset)
                card-signatures: (unset)
                insecure-http: false (built-in default)
                task-id: (unset)
                context-id: (unset)
                metadata: (unset)
                async: false (built-in default)
                wait: (unset)
                poll-interval: 2s (built-in default)
                timeout: 10m (built-in default)
                token: (unset)
                auth-credentials: (unset)
                ca: (unset)
                insecure: false (built-in default)
                bearer: (unset)
                api-key: (unset)
                svc-param: (unset)
                keys-file: (unset)
                keyring: false (built-in default)
                encrypted-keys: (unset)
                encrypted-keys-key: (unset)
                encrypted-keys-passphrase: (unset)
                output: text (built-in default)
                verbose: false (built-in default)
                debug: false (built-in default)
                config: (unset)
                up.port: 7420 (built-in default)
                up.bind: 127.0.0.1 (built-in default)
                up.public-url: (unset)
                up.behind-proxy: false (built-in default)
                up.trusted-proxy: (unset)
                up.allowed-host: (unset)
                up.cors-origin: (unset)
                up.max-body: 10MB (built-in default)
                up.tls-cert: (unset)
                up.tls-key: (unset)
                up.tls-client-ca: (unset)
                up.drain: 10s (built-in default)
                up.data: ~/.parley (built-in default)
                up.database: (unset)
                up.cluster: false (built-in default)
                up.in-memory: false (built-in default)
                up.retention: 0 (built-in default)
                up.group-quota: (unset)
                up.encryption-key: (unset)
                up.encryption-key-file: (unset)
                up.secrets: (unset)
                up.encrypt-tasks: false (built-in default)
                up.max-turns: 1000 (built-in default)
                up.max-events: 100000 (built-in default)
                up.max-task: 64MB (built-in default)
                up.auth: none (built-in default)
                up.auth-scopes: (unset)
                up.agent-auth: (unset)
                up.agent-auth-scopes: (unset)
                up.callers: (unset)
                up.issuer: (unset)
                up.audience: (unset)
                up.oauth-flow: (unset)
                up.group-claim: (unset)
                up.openid-client: (unset)
                up.policy: (unset)
                up.api-key-header: X-Api-Key (built-in default)
                up.protect-cards: false (built-in default)
                up.card-addresses: (unset)
                up.auth-service: parley (built-in default)
                up.max-call-depth: 8 (built-in default)
                up.status-profile: 1.0.1 (built-in default)
                up.strict-version-header: false (built-in default)
                up.lenient-methods: false (built-in default)
                up.lenient-bodies: false (built-in default)
                up.merged-legacy-answers: false (built-in default)
                up.preview: none (built-in default)
                up.kg-http-status: legacy (built-in default)
                up.kg-tokens: drop (built-in default)
                up.knowledge-store: (unset)
                up.knowledge-store-authorization: (unset)
                up.knowledge-store-authorization-file: (unset)
                up.trace-link: (unset)
                up.one-trust: (unset)
                up.one-trust-hosts: (unset)
                up.one-require-signatures: false (built-in default)
                up.mcp-servers: (unset)
                up.mcp-wait: 25s (built-in default)
                up.registry-publisher: (unset)
                up.registry-domains: (unset)
                up.fetch-allow: (unset)
                up.registry-trust: (unset)
                up.registry-probes: 5m (built-in default)
                up.registry-mail: (unset)
                up.remote: (unset)
                up.gateway-allow: (unset)
                up.gateway-trust: (unset)
                up.gateway-refresh: 1m (built-in default)
                up.gateway-secrets: (unset)
                up.console: on (built-in default)
                up.admin-port: (unset)
                up.admin-bind: 127.0.0.1 (built-in default)
                up.webhook-allow: (unset)
                up.dialects: 1.0,0.3,0.1,kernel,agentvault,one (built-in default)
                up.agent-dialects: (unset)
                up.grpc-on-cards: false (built-in default)
                up.audit: changes (built-in default)
                up.default-agent: (unset)
                up.agents: (unset)
                up.no-demo: false (built-in default)
                up.card-key: (unset)
                up.log-format: text (built-in default)
                up.otlp-endpoint: (unset)
                up.config: (unset)
                """);
    }

    @Test
    void theTableInTheDocsIsMadeFromTheRecords() throws IOException {
        var table = new StringBuilder("\n| setting | default | |\n|---|---|---|\n");
        for (Setting setting : Setting.of(Setting.Scope.HUB)) {
            table.append("| `%s` | %s | %s |\n"
                    .formatted(
                            setting.name(),
                            setting.spec().fallback() == null
                                    ? ""
                                    : "`" + setting.spec().fallback() + "`",
                            setting.spec().description().replace("|", "\\|").replace("<", "&lt;")));
        }

        String page = Files.readString(Path.of("../docs/cli.md"));

        assertThat(page).contains("<!-- settings of a hub -->" + table + "<!-- end -->");
    }

    @Test
    void namesAreUniqueInTheTable() {
        var names = new HashSet<String>();
        var variables = new HashSet<String>();

        assertThat(Setting.all()).allSatisfy(setting -> {
            assertThat(names.add(setting.shownName())).isTrue();
            assertThat(variables.add(setting.variable())).isTrue();
            if (setting.spec().fallback() != null) {
                assertThat(setting.spec().type().parser().apply(setting.spec().fallback()))
                        .isNotNull();
            }
        });
    }

    @Test
    void aMisspeltKeyIsRefusedByNameWithTheNearestOne() throws IOException {
        Path file = write("hub.yaml", "port: 8001\ndefault-agnet: echo\n");

        Shell.Ran ran = shell.run("up", "--config", file.toString());

        assertThat(ran.status()).isEqualTo(2);
        assertThat(ran.err())
                .contains("hub.yaml, line 2: unknown setting default-agnet")
                .contains("did you mean default-agent?");
    }

    @Test
    void aHubFileThatIsNoneIsRefusedWithItsPlace() throws IOException {
        Path twice = write("twice.yaml", "port: 1\nport: 2\n");
        Path list = write("list.yaml", "- port\n");
        Path deep = write("deep.yaml", "port:\n  number: 1\n");

        assertThat(shell.run("up", "--config", twice.toString()).err()).contains("twice.yaml, line 2");
        assertThat(shell.run("up", "--config", list.toString()).err()).contains("list.yaml: not a mapping");
        assertThat(shell.run("up", "--config", deep.toString()).err()).contains("port has members of its own");
        assertThat(shell.run("up", "--config", "missing.yaml").err()).contains("no such file");
    }

    @Test
    void aBadValueIsRefusedWithItsSource() throws IOException {
        Path file = write("hub.yaml", "port: many\n");
        shell.with("A2ACLI_TIMEOUT", "soon");

        Shell.Ran fromFile = shell.run("up", "--config", file.toString());
        Shell.Ran fromEnvironment = shell.run("task", "get", "t1", "-a", "http://127.0.0.1:1", "--wait");

        assertThat(fromFile.err()).contains("invalid port in " + file + ": many (expected: a port from 0 to 65535)");
        assertThat(fromEnvironment.status()).isIn(2, 3);
    }

    @Test
    void aBrokenLineOfOursInADotenvFileIsRefused() throws IOException {
        Path file = write(".env", "A2ACLI_OUTPUT json\n");

        Shell.Ran ran = shell.run("task", "get", "t1");

        assertThat(ran.status()).isEqualTo(2);
        assertThat(ran.err()).contains(file + ", line 1");
    }

    @Test
    void waitingAndNotWaitingAreOneChoice() throws IOException {
        write(".env", "A2ACLI_ASYNC=true\n");
        shell.with("A2ACLI_WAIT", "true");

        Settings settings = Settings.ofClient(
                new CliEnvironment(
                        System.in,
                        System.out,
                        System.err,
                        java.util.Map.of("A2ACLI_WAIT", "true"),
                        directory.resolve("work"),
                        directory,
                        new Interruption(),
                        false),
                setting -> java.util.List.of());

        assertThat(settings.isAsync()).isFalse();
    }

    @Test
    @Tag("A2ACLI_CONFIG_001")
    void aFileWithCredentialsThatOthersMayReadIsWarnedOf() throws IOException {
        Path file = write(".env", "A2ACLI_BEARER=abcdef\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        try (var agent = new ScriptedServer().on("GetTask", ScriptedServer.task("t1", "COMPLETED"))) {

            Shell.Ran exposed = shell.run("task", "get", "t1", "-a", agent.url());
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            Shell.Ran kept = shell.run("task", "get", "t1", "-a", agent.url());

            assertThat(exposed.err()).contains("chmod 600");
            assertThat(kept.err()).doesNotContain("chmod 600");
        }
    }

    @Test
    void durationsAndSizesAreReadStrictly() {
        assertThat(SettingType.DURATION.parser().apply("1m30s").toSeconds()).isEqualTo(90);
        assertThat(SettingType.DURATION.parser().apply("PT2S").toSeconds()).isEqualTo(2);
        assertThat(SettingType.DURATION.parser().apply("30d").toDays()).isEqualTo(30);
        assertThat(SettingType.DURATION.parser().apply("7").toSeconds()).isEqualTo(7);
        assertThat(SettingType.SIZE.parser().apply("10MB")).isEqualTo(10L << 20);
        for (String wrong : new String[] {"", "-1s", "1x", "s", "1s!", "PT-1S"}) {
            org.assertj.core.api.Assertions.assertThatThrownBy(
                            () -> SettingType.DURATION.parser().apply(wrong))
                    .as(wrong)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
