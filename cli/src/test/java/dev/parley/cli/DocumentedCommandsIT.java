package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands of the documents, as they are written, with the launcher and the packaged program, from an empty directory and at the
 * documented ports. {@link TutorialIT} runs those of the tutorial. Skipped if one of these ports is in use.
 */
@Tag("heavy")
@Timeout(400)
class DocumentedCommandsIT {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** Pages about tests and measurements, and the tutorial. */
    private static final List<String> APART = List.of(
            "docs/tutorial.md",
            "docs/conformance.md",
            "docs/interop.md",
            "docs/performance.md",
            "docs/search.md",
            "docs/security.md");

    private static final String ELSEWHERE = "names an address that is not there";
    private static final String KEYRING = "needs the keyring of a desktop";
    private static final String BUILD = "builds with Maven: EmbeddingIT, InitCommandTest";
    private static final String ENDLESS = "does not end";
    private static final String SAMPLE = "names something of the reader's own";

    /** Commands that do not run here, by their begin, with the reason. */
    private static final Map<String, String> NOT_RUN = Map.ofEntries(
            entry("curl -d grant_type=client_credentials", SAMPLE + ": AuthenticationTest"),
            entry("parley up --auth openIdConnect", ELSEWHERE),
            entry("parley up --auth mutualTLS", "needs certificates: TlsTest"),
            entry("parley audit tail", ENDLESS),
            entry("parley audit query", SAMPLE + ": AdminCommandTest"),
            entry("parley up --database", ELSEWHERE),
            entry("parley up --data hub", "needs a server of PostgreSQL: ClusterTest"),
            entry("parley secrets export secrets.json --data hub1", "SecretsCommandTest, SharedSecretsTest"),
            entry("parley secrets import secrets.json --data hub2", "SecretsCommandTest, SharedSecretsTest"),
            entry("parley migrate --data /var/lib", "MigrateCommandTest"),
            entry("parley key list --url http://127.0.0.1:7421", SAMPLE + ": a key"),
            entry("curl -X PUT https://a.example", ELSEWHERE),
            entry("curl -X POST https://a.example", ELSEWHERE),
            entry("parley gateway add", ELSEWHERE),
            entry("parley gateway drain", ELSEWHERE),
            entry("parley send -a http://127.0.0.1:7420/agents/legacy", ELSEWHERE),
            entry("parley install", BUILD),
            entry("export JAVA_HOME", BUILD),
            entry("cd hello", BUILD),
            entry("parley auth login", ELSEWHERE),
            entry("parley keys", KEYRING),
            entry("export A2ACLI_KEY_ORIGIN", KEYRING),
            entry("parley send -a https://agents.example.com", ELSEWHERE),
            entry("parley up --knowledge-store", ELSEWHERE),
            entry("curl -N http://127.0.0.1:7420/agents/echo/kg:subscribe", ENDLESS),
            entry("curl -N -H 'Accept: text/event-stream'", ENDLESS),
            entry("parley one send", "needs an agent of the reader: OneCommandTest"),
            entry("parley one listen", ENDLESS),
            entry("parley backup", "BackupUnderLoadTest"),
            entry("parley restore", "BackupUnderLoadTest"),
            entry("sqlite3", "BackupTest"),
            entry("cp -p", "BackupTest"),
            entry("mkdir -m 700 /var/lib", "BackupTest"),
            entry("parley doctor --data /var/lib", "BackupTest"),
            entry("parley up --data /var/lib", "BackupTest"),
            entry("parley demo etl --rules", SAMPLE + ": DemoCommandTest"),
            entry("parley demo research --topic", ELSEWHERE),
            entry("parley demo repair-shop --interactive", "asks: RepairShopCommandTest"),
            entry("parley privacy", SAMPLE + ": PrivacyCommandTest"),
            entry("export AGENTVAULT_REGISTRY_URL", "needs the command line of AgentVault: AgentVaultRegistryTest"),
            entry("curl -X POST $HUB", SAMPLE + ": AgentVaultRegistryTest"),
            entry("parley agent register https", ELSEWHERE),
            entry("parley agent inspect https", ELSEWHERE),
            entry("parley agent diff", SAMPLE + ": RegistryCommandTest"),
            entry("parley discover \"translate legal text\"", SAMPLE + ": RegistryCommandTest"),
            entry("parley init hello", BUILD),
            entry("parley package hello", BUILD),
            entry("docker build", "needs Docker: PackageCommandTest"),
            entry("parley discover \"write a report\"", "RegistryDemoTest"),
            entry("parley agent show", "RegistryDemoTest"),
            entry("parley key create --group default --principal orchestrator", "RegistryDemoTest"),
            entry("parley run -a urn:air:agents.example.com", "RegistryDemoTest"),
            entry("parley send -a http://127.0.0.1:7420/agents/writer", "RegistryDemoTest"),
            entry("parley card verify https", ELSEWHERE),
            entry("parley card key fetch", ELSEWHERE),
            entry("parley push dead-letters redeliver", SAMPLE + ": AdminCommandTest"),
            entry("parley push secret --group sales --url https", ELSEWHERE),
            entry("parley up --agents thermometer.jar", "InstalledCommandsTest"),
            entry("mkdir -p ~/.config/a2a-cli/extensions", "InstalledCommandsTest"),
            entry("cp thermometer.jar", "InstalledCommandsTest"),
            entry("parley thermometer", "InstalledCommandsTest"));

    /** Commands that end by the commands after them: those of another terminal. */
    private static final List<String> WAITING = List.of("parley send -a http://127.0.0.1:7420/agents/watchdog");

    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w*)\\n(.*?)^```");
    private static final Set<String> SHELLS = Set.of("", "sh", "shell", "bash", "console");
    private static final Pattern COMMAND =
            Pattern.compile("(\\./)?(parley|curl|export|cd|mkdir|cp|sqlite3|openssl|docker) .*", Pattern.DOTALL);
    private static final Pattern SERVER =
            Pattern.compile("(\\./)?parley (up|run(?= \\w+\\.java)|demo(?= .*--serve)).*", Pattern.DOTALL);
    private static final Pattern FILE =
            Pattern.compile("`([A-Za-z]+\\.(?:java|json))`[^`]*?\\n\\n```(?:java|json)\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern URL = Pattern.compile("http://(127\\.0\\.0\\.1|localhost):\\d+");
    private static final List<Integer> PORTS = List.of(7420, 7421, 8080);
    private static final int SECONDS = 60;

    @TempDir
    private Path directory;

    /** The hub that {@code parley up} runs, and servers of other commands. */
    private final Map<String, Process> servers = new HashMap<>();

    @AfterEach
    void stop() throws InterruptedException {
        for (String verb : List.copyOf(servers.keySet())) {
            stop(verb);
        }
    }

    private void stop(String verb) throws InterruptedException {
        Process running = servers.remove(verb);
        if (running != null) {
            running.destroy();
            assertThat(running.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** Commands of a page in their order; one that goes over several lines is one. */
    private static List<String> commands(String page) throws IOException {
        var commands = new ArrayList<String>();
        Matcher block = BLOCK.matcher(Files.readString(ROOT.resolve(page)));
        while (block.find()) {
            if (!SHELLS.contains(block.group(1))) {
                continue;
            }
            var command = new StringBuilder();
            for (String line : block.group(2).lines().toList()) {
                boolean isConsole = block.group(1).equals("console");
                if (isConsole && !line.startsWith("$ ")) {
                    continue;
                }
                command.append(command.isEmpty() ? "" : "\n").append(isConsole ? line.substring(2) : line);
                boolean goesOn = line.endsWith("\\")
                        || command.chars().filter(one -> one == '\'').count() % 2 > 0;
                if (!goesOn) {
                    if (COMMAND.matcher(command).matches()) {
                        commands.add(command.toString());
                    }
                    command.setLength(0);
                }
            }
        }
        return commands;
    }

    private static Map<String, List<String>> pages() throws IOException {
        var pages = new LinkedHashMap<String, List<String>>();
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
            for (String page : Stream.concat(
                            Stream.of("README.md"),
                            docs.map(file -> "docs/" + file.getFileName()).sorted())
                    .filter(page -> page.endsWith(".md") && !APART.contains(page))
                    .toList()) {
                pages.put(page, commands(page));
            }
        }
        return pages;
    }

    private static boolean isRun(String command) {
        return NOT_RUN.keySet().stream().noneMatch(command::startsWith);
    }

    @Test
    @DisplayName("N2 a command of the documents runs, or is excepted with a reason; no exception is without a command")
    void exceptionsAreCommands() throws IOException {
        var unused = new TreeSet<>(NOT_RUN.keySet());
        pages().values()
                .forEach(commands -> commands.forEach(command -> unused.removeIf(begin -> command.startsWith(begin))));

        assertThat(unused).isEmpty();
    }

    @TestFactory
    @DisplayName("N2 the commands of each page run")
    Stream<DynamicTest> everyPage() throws IOException {
        assumeTrue(areFree(), "one of the ports " + PORTS + " is in use");
        var shared = new ArrayList<String>();
        var tests = new ArrayList<DynamicTest>();
        pages().forEach((page, all) -> {
            List<String> commands =
                    all.stream().filter(DocumentedCommandsIT::isRun).toList();
            if (commands.stream().anyMatch(command -> SERVER.matcher(command).matches())) {
                tests.add(DynamicTest.dynamicTest(page, () -> run(page, commands)));
            } else {
                shared.addAll(commands);
            }
        });
        tests.add(DynamicTest.dynamicTest("pages that start no server", () -> run("README.md", shared)));
        return tests.stream();
    }

    private static boolean areFree() {
        for (int port : PORTS) {
            try (var socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                assertThat(socket.isBound()).isTrue();
            } catch (IOException inUse) {
                return false;
            }
        }
        return true;
    }

    private void run(String page, List<String> commands) throws Exception {
        Path home = directory.resolve(page.replaceAll("\\W", "-") + commands.size());
        Path work = Files.createDirectories(home.resolve("work"));
        for (String source : List.of("README.md", page)) {
            Matcher files = FILE.matcher(Files.readString(ROOT.resolve(source)));
            while (files.find()) {
                Files.writeString(work.resolve(files.group(1)), files.group(2));
            }
        }
        if (page.equals("docs/authentication.md")) {
            Matcher callers = Pattern.compile("(?s)```json\n(.*?)```").matcher(Files.readString(ROOT.resolve(page)));
            assertThat(callers.find()).isTrue();
            Files.writeString(work.resolve("callers.json"), callers.group(1));
        }
        var launcher = new PackagedLauncher(home);
        Files.createSymbolicLink(work.resolve("parley"), home.resolve("bin/parley"));
        var known = new ConcurrentHashMap<String, String>();
        var waiting = new HashMap<String, Process>();
        try {
            if (!SERVER.matcher(commands.getFirst()).matches()) {
                start(launcher, home, "parley up", known);
            }
            for (String command : commands) {
                String given = command;
                for (Map.Entry<String, String> one : known.entrySet()) {
                    given = given.replaceAll("\\b" + one.getKey() + "\\b", one.getValue());
                }
                if (SERVER.matcher(given).matches()) {
                    start(launcher, home, given, known);
                } else if (WAITING.stream().anyMatch(given::startsWith)) {
                    Process process = process(launcher, home, given)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
                    waiting.put(given, process);
                } else {
                    if (given.contains("--data ~/")) {
                        stop("up"); // "while the hub does not run"
                    }
                    String output = shell(launcher, home, given);
                    Matcher id = Pattern.compile("urn:air:\\S+").matcher(output);
                    if (id.find()) {
                        known.putIfAbsent("ID", id.group());
                    }
                }
            }
            for (Map.Entry<String, Process> one : waiting.entrySet()) {
                assertThat(one.getValue().waitFor(SECONDS, TimeUnit.SECONDS))
                        .as(one.getKey())
                        .isTrue();
                assertThat(one.getValue().exitValue()).as(one.getKey()).isZero();
            }
        } finally {
            waiting.values().forEach(Process::destroy);
            stop();
        }
    }

    private static ProcessBuilder process(PackagedLauncher launcher, Path home, String command) {
        ProcessBuilder process = launcher.process(List.of("bash", "-euc", command))
                .directory(home.resolve("work").toFile())
                .redirectErrorStream(true);
        process.environment().put("HOME", home.toString());
        process.environment().put("PARLEY_JAVA_OPTIONS", "-Duser.home=" + home); // Java does not ask the environment
        return process;
    }

    private static String shell(PackagedLauncher launcher, Path home, String command) throws Exception {
        Process process = process(launcher, home, command).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).as(command).isTrue();
        assertThat(process.exitValue()).as("%s%n%s", command, output).isZero();
        return output;
    }

    private void start(PackagedLauncher launcher, Path home, String command, Map<String, String> known)
            throws IOException, InterruptedException {
        Matcher verb = SERVER.matcher(command);
        assertThat(verb.matches()).isTrue();
        stop(verb.group(2));
        Process process = process(launcher, home, "exec " + command).start();
        servers.put(verb.group(2), process);
        process.getOutputStream().close();
        var ready = new CountDownLatch(1);
        var lines = new ConcurrentLinkedQueue<String>();
        BufferedReader output = process.inputReader(UTF_8);
        Thread.ofVirtual().start(() -> {
            try {
                output.lines().forEach(line -> {
                    lines.add(line);
                    Matcher key = Pattern.compile("Bootstrap-Key: (\\S+)").matcher(line);
                    if (key.find()) {
                        known.put("BOOTSTRAP", key.group(1));
                    }
                    if (URL.matcher(line).find() || line.startsWith("URL: ")) {
                        ready.countDown();
                    }
                });
            } catch (UncheckedIOException stopped) {
                // The process was destroyed.
            }
            ready.countDown();
        });
        assertThat(ready.await(SECONDS, TimeUnit.SECONDS)).as(command).isTrue();
        assertThat(process.isAlive())
                .as("%s%n%s", command, String.join("\n", lines))
                .isTrue();
    }
}
