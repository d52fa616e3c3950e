package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Model.CommandSpec;

/** {@code --ca} and {@code --insecure} of all commands, and of {@code bench} before a hub with TLS. */
@Timeout(90)
class AuthoritiesTest {
    /** Commands that call no server of their user's choice: they work on files, or run a hub or a receiver. */
    private static final Set<String> WITHOUT_SERVER = Set.of(
            "up",
            "init",
            "card sign",
            "card key create",
            "card key public",
            "keys set",
            "keys get",
            "keys list",
            "keys remove",
            "doctor",
            "backup",
            "restore",
            "migrate",
            "secrets export",
            "secrets import",
            "secrets forget",
            "config show",
            "config set",
            "config get",
            "config list",
            "one listen",
            "one key create",
            "one key public",
            // Their agents, in a hub of the command, read public pages or ask a model.
            "demo etl",
            "demo repair-shop",
            "demo research",
            "completion",
            "help",
            "warm-up");

    private static final Set<String> ADDRESSES = Set.of("-a", "--agent-card", "--url", "--agent-url", "--registry");

    @TempDir
    Path directory;

    @Test
    void eachCommandThatCallsAServerTakesBothFlags() {
        var options = new TreeMap<String, Set<String>>();
        collect(new Commands(List.of("help"), taken -> List.of()).parser().getCommandSpec(), "", options);

        Map<String, Set<String>> without = options.entrySet().stream()
                .filter(command -> !command.getValue().containsAll(Set.of("--ca", "--insecure")))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));

        assertThat(options).hasSizeGreaterThan(100).containsKeys("bench", "send", "task push-config create");
        assertThat(without.keySet()).isEqualTo(WITHOUT_SERVER);
        assertThat(without).allSatisfy((command, names) -> assertThat(names).doesNotContainAnyElementsOf(ADDRESSES));
    }

    /** Names of the options in the help of each command. */
    private static void collect(CommandSpec spec, String name, Map<String, Set<String>> options) {
        if (spec.subcommands().isEmpty()) {
            options.put(
                    name,
                    spec.options().stream()
                            .filter(option -> !option.hidden())
                            .flatMap(option -> List.of(option.names()).stream())
                            .collect(Collectors.toSet()));
        }
        spec.subcommands()
                .forEach((word, below) -> collect(below.getCommandSpec(), (name + " " + word).strip(), options));
    }

    @ParameterizedTest
    @ValueSource(strings = {"send", "stream", "get", "list", "send --transport rest"})
    @Tag("heavy")
    void benchMeasuresAHubWithACertificateOfAPrivateAuthority(String load) throws Exception {
        Path chain = directory.resolve("chain.pem");
        Path key = directory.resolve("key.pem");
        Certificates.selfSigned(chain, key);
        try (Hub hub = Hub.builder()
                .port(0)
                .inMemory()
                .tls(chain, key)
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .start()) {
            String bench = "bench " + load + " --url " + hub.agentUrl("echo")
                    + " --connections 2 --warmup 0 --requests 10 --tasks 5 -o json";

            Shell.Ran trusted = run(new Shell(directory), bench + " --ca " + chain);
            Shell.Ran variable = run(new Shell(directory).with("A2ACLI_CA", chain.toString()), bench);
            Shell.Ran unverified = run(new Shell(directory), bench + " --insecure");
            Shell.Ran refused = run(new Shell(directory), bench);

            assertThat(hub.url()).startsWith("https://");
            assertThat(List.of(trusted, variable, unverified)).allSatisfy(ran -> {
                assertThat(ran.status()).as(ran.err()).isZero();
                assertThat(ran.out()).contains("\"errors\":{}").containsPattern("\"(requests|streams)\":1[0-9]");
            });
            assertThat(trusted.err() + variable.err()).doesNotContain("Warning");
            assertThat(unverified.err()).contains("Warning: TLS certificates are not verified (--insecure)");
            assertThat(refused.status()).isEqualTo(3);
            assertThat(refused.out()).contains("no answer from " + hub.url() + ": TLS failed");
        }
    }

    private static Shell.Ran run(Shell shell, String line) {
        return shell.run(line.split(" ", -1));
    }
}
