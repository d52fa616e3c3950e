package dev.parley.interop;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What others have made for calling agents, for serving them, or for what these need besides, driven by scripts of ours: how to
 * get it, and how to run it.
 *
 * <p>It is installed below {@code target} from the lock file next to the scripts, and kept there for as long as that file
 * does not change, nor what is built with it.
 *
 * @param name of the directory below {@code target}
 * @param sources the directories of its scripts, those of its own release last
 * @param lockFiles files that name every package and its version, and sources that the installation compiles; empty for all files
 * @param installation the commands that install them
 * @param client the command that calls the agents of hubs, except for its last arguments, the hubs; empty if it has no client
 * @param server the command that serves an agent; empty if it has no server, or none that starts by itself
 */
public record ForeignSdk(
        String name,
        List<String> sources,
        List<String> lockFiles,
        List<List<String>> installation,
        List<String> client,
        List<String> server) {
    // Without the last two it takes more than a minute to notice that there is no network.
    private static final List<String> NPM_CI = List.of(
            "npm",
            "ci",
            "--ignore-scripts",
            "--engine-strict",
            "--no-audit",
            "--no-fund",
            "--fetch-retry-maxtimeout=2000",
            "--fetch-retry-mintimeout=1000");

    private static final List<String> NPM_CI_OF_OTHER_ENGINES =
            NPM_CI.stream().filter(option -> !option.equals("--engine-strict")).toList();

    /**
     * Installs in seconds where pip takes minutes, as it keeps each package once on this machine. It also ignores that the
     * AgentVault library claims to need Python before 3.12.
     */
    static final ForeignSdk UV = new ForeignSdk(
            "uv",
            List.of("uv"),
            List.of("requirements.txt"),
            List.of(
                    List.of("python3", "-m", "venv", "venv"),
                    List.of("./venv/bin/python", "-m", "pip", "install", "--quiet", "-r", "requirements.txt")),
            List.of(),
            List.of());

    private static final List<String> UV_INSTALL = List.of(
            Path.of("..", "uv", "venv", "bin", "uv").toString(),
            "pip",
            "install",
            "--quiet",
            "--system-certs",
            "--no-deps",
            "--python",
            "venv/bin/python",
            "-r",
            "requirements.txt");

    private static final List<String> COPY_DEPENDENCIES = List.of(
            "mvn",
            "-B",
            "-q",
            "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy-dependencies",
            "-DoutputDirectory=lib");

    private static final String GO_COMMAND_LINE =
            "GOTOOLCHAIN=auto go build -buildvcs=false -o a2a github.com/a2aproject/a2a-go/v2/cmd/a2a";

    /** Compiled crates are kept on this machine, as those of Go are: they take minutes. */
    private static final String RUST_BUILD = """
            crates="${XDG_CACHE_HOME:-$HOME/.cache}/parley-interop/crates" &&
            CARGO_TARGET_DIR="$crates" cargo build --quiet --locked && mkdir -p target/debug && cp "$crates/debug/driver" target/debug/""";

    /** Everyone, the newest dialect first. */
    static final List<ForeignSdk> ALL = List.of(
            javaScript("1.0", List.of()),
            python("python-1.0"),
            go("1.0"),
            java("java-1.0", List.of("java-1.0")),
            javaScript("0.3", List.of("js-kind")),
            python("python-0.3", "python-kind"),
            java("java-0.3", List.of("java-kind", "java-0.3")),
            javaServer("0.3"),
            javaServer("0.3-grpc"),
            go("0.3"),
            java("langchain4j", List.of("langchain4j")),
            javaScript("0.2", List.of("js-kind")),
            python("python-0.2", "python-kind"),
            java("java-0.2", List.of("java-kind", "java-0.2")),
            javaServer("0.2"),
            python("agentvault").withoutServer(),
            python("agentvault-server").withoutClient());

    /** What signs cards, and verifies them and webhooks. */
    static final List<ForeignSdk> SIGNERS = List.of(
            javaScript("signing", List.of()).withoutServer(),
            python("python-signing").withoutServer());

    /** Frameworks and command lines that call agents by A2A. */
    static final List<ForeignSdk> FRAMEWORKS = List.of(
            python("google-adk", "python-framework"),
            python("agent-framework", "python-framework"),
            framework("strands"),
            framework("beeai"),
            python("crewai", "python-framework"),
            framework("a2a-handler"),
            framework("a2a-mcp-server"),
            called("a2a-go-cli", List.of("go.mod", "go.sum"), List.of("sh", "-c", GO_COMMAND_LINE)),
            called("a2a-rs", List.of("Cargo.lock", "main.rs"), List.of("sh", "-c", RUST_BUILD)),
            called("a2a-ai-provider", List.of("package-lock.json"), NPM_CI));

    /** The public conformance suite of MCP. It names a version of Node.js that it also brings along, so npm must not insist on its own. */
    static final ForeignSdk MCP_CONFORMANCE = new ForeignSdk(
            "mcp-conformance",
            List.of("mcp-conformance"),
            List.of("package-lock.json"),
            List.of(NPM_CI_OF_OTHER_ENGINES),
            List.of("node", "main.mjs"),
            List.of());

    /** Clients and servers of MCP. */
    static final List<ForeignSdk> MCP_SDKS = List.of(
            new ForeignSdk(
                    "mcp-js",
                    List.of("mcp-js"),
                    List.of("package-lock.json"),
                    List.of(NPM_CI),
                    List.of("node", "main.mjs"),
                    List.of("node", "serve.mjs")),
            python("mcp-python").withOwnSources(),
            new ForeignSdk(
                    "mcp-java",
                    List.of("mcp-java"),
                    List.of("pom.xml", "Main.java", "Server.java"),
                    List.of(
                            COPY_DEPENDENCIES,
                            List.of("sh", "-c", "'%s' -cp 'lib/*' -d classes *.java".formatted(javaTool("javac")))),
                    List.of(javaTool("java"), "-cp", "classes:lib/*", "Main"),
                    List.of(javaTool("java"), "-cp", "classes:lib/*", "Server")));

    /** Both generations of the SDKs of MCP, as clients that sign users in. */
    static final List<ForeignSdk> MCP_SIGN_IN = List.of(
            signIn("mcp-js-1", "mcp-signin-js", List.of("package-lock.json"), List.of(NPM_CI), "node", "signin.mjs"),
            signIn("mcp-js", "mcp-signin-js", List.of("package-lock.json"), List.of(NPM_CI), "node", "signin.mjs"),
            signIn(
                    "mcp-python-1",
                    "mcp-signin-python",
                    List.of("requirements.txt"),
                    python("mcp-python-1").installation,
                    "./venv/bin/python",
                    "signin.py"),
            signIn(
                    "mcp-python",
                    "mcp-signin-python",
                    List.of("requirements.txt"),
                    python("mcp-python").installation,
                    "./venv/bin/python",
                    "signin.py"));

    /** The command line of the inspector of MCP, which also brings its Node.js along. */
    static final ForeignSdk MCP_INSPECTOR = new ForeignSdk(
            "mcp-inspector",
            List.of("mcp-inspector"),
            List.of("package-lock.json"),
            List.of(NPM_CI_OF_OTHER_ENGINES),
            List.of("node", "main.mjs"),
            List.of());

    /** The published command line of AgentVault, and further clients of its registry. */
    static final ForeignSdk AGENTVAULT_REGISTRY = python("agentvault-registry").withoutServer();

    /** An OpenID provider; its server wants to be told a port. */
    public static final ForeignSdk OPEN_ID_PROVIDER = javaScript("oidc", List.of());

    /** Rules of accessibility, as a script that runs in a page. */
    public static final ForeignSdk AXE =
            new ForeignSdk("axe", List.of("axe"), List.of("package-lock.json"), List.of(NPM_CI), List.of(), List.of());

    /** TypeScript and the libraries of the console with their types. */
    static final ForeignSdk CONSOLE_TYPES = new ForeignSdk(
            "console-types",
            List.of("console-types"),
            List.of("package-lock.json"),
            List.of(NPM_CI),
            List.of(),
            List.of());

    /** A collector of OpenTelemetry; it wants to be told who gets the spans. */
    static final ForeignSdk COLLECTOR = new ForeignSdk(
            "go-collector",
            List.of("go-collector"),
            List.of("go.sum", "main.go"),
            List.of(
                    List.of("env", "GOTOOLCHAIN=auto", "go", "mod", "download"),
                    List.of("env", "GOTOOLCHAIN=auto", "go", "build", "-buildvcs=false", "-o", "collector", ".")),
            List.of(),
            List.of("./collector"));

    /** Helm and kubeconform, and a package with the schemas of Kubernetes' objects, which neither of them has. */
    static final ForeignSdk CHARTS = new ForeignSdk(
            "charts",
            List.of("charts"),
            List.of("go.sum", "requirements.txt"),
            List.of(
                    List.of("env", "GOTOOLCHAIN=auto", "go", "build", "-buildvcs=false", "-o", ".", "tool"),
                    List.of("python3", "-m", "venv", "--without-pip", "venv"),
                    UV_INSTALL),
            List.of(),
            List.of());

    /** The reader of Compose files that Docker Compose is made of. */
    static final ForeignSdk COMPOSE = new ForeignSdk(
            "compose",
            List.of("compose"),
            List.of("go.sum", "main.go"),
            List.of(List.of("env", "GOTOOLCHAIN=auto", "go", "build", "-buildvcs=false", "-o", "compose", ".")),
            List.of(),
            List.of());

    /** A client that is generated from the document of a hub; it wants to be told its address. */
    static final ForeignSdk OPENAPI_CLIENT = new ForeignSdk(
            "openapi-java",
            List.of("openapi-java"),
            List.of("pom.xml"),
            List.of(COPY_DEPENDENCIES),
            List.of(
                    "sh",
                    "-c",
                    "rm -rf generated classes && '%s' -jar lib/openapi-generator-cli-*.jar generate -i \"$0/openapi.json\" -g java --library native -o generated"
                                    .formatted(javaTool("java"))
                            + " --additional-properties=invokerPackage=client,apiPackage=client.api,modelPackage=client.model"
                            + ",useJakartaEe=true > generate.out && mkdir classes"
                            + " && '%s' -nowarn -cp 'lib/*' -d classes Main.java $(find generated/src/main/java -name '*.java')"
                                    .formatted(javaTool("javac"))
                            + " && exec '%s' -cp 'classes:lib/*' Main \"$0\" \"$@\"".formatted(javaTool("java"))),
            List.of());

    private static ForeignSdk javaScript(String release, List<String> shared) {
        return new ForeignSdk(
                "js-" + release,
                sources("js", release, shared),
                List.of("package-lock.json"),
                List.of(NPM_CI),
                List.of("node", "main.mjs"),
                List.of("node", "serve.mjs"));
    }

    private static ForeignSdk python(String name, String... shared) {
        return new ForeignSdk(
                name,
                Stream.of(Stream.of("python-common"), Stream.of(shared), Stream.of(name))
                        .flatMap(it -> it)
                        .toList(),
                List.of("requirements.txt"),
                List.of(List.of("python3", "-m", "venv", "--without-pip", "venv"), UV_INSTALL),
                List.of("./venv/bin/python", "main.py"),
                List.of("./venv/bin/python", "serve.py"));
    }

    private static ForeignSdk framework(String name) {
        return python(name, "python-framework").withoutServer();
    }

    /** An SDK of MCP with the script that signs a user in. */
    private static ForeignSdk signIn(
            String name, String script, List<String> lockFiles, List<List<String>> installation, String... client) {
        return new ForeignSdk(name, List.of(name, script), lockFiles, installation, List.of(client), List.of());
    }

    /** A command, or a library behind a small program of ours, which the driver starts once for each call. */
    private static ForeignSdk called(String name, List<String> lockFiles, List<String> installation) {
        return new ForeignSdk(
                name,
                List.of("python-common", "python-framework", name),
                lockFiles,
                List.of(installation),
                List.of("python3", "main.py"),
                List.of());
    }

    /** In a process of its own, as all releases of the SDK have classes of the same names. */
    private static ForeignSdk java(String name, List<String> sources) {
        return new ForeignSdk(
                name,
                sources,
                List.of(),
                List.of(
                        COPY_DEPENDENCIES,
                        List.of("sh", "-c", "'%s' -cp 'lib/*' -d classes *.java".formatted(javaTool("javac")))),
                List.of(javaTool("java"), "-cp", "classes:lib/*", "Main"),
                List.of());
    }

    /** An application of Quarkus, as all servers of this SDK are. To build one takes a while, so that is done only once. */
    private static ForeignSdk javaServer(String release) {
        return new ForeignSdk(
                "java-serve-" + release,
                List.of("java-serve", "java-serve-" + release),
                List.of("pom.xml", "parent.xml", "application.properties", "Agent.java", "Main.java"),
                List.of(List.of("mvn", "-B", "-q", "clean", "package", "-Dmaven.test.skip")),
                List.of(),
                List.of(javaTool("java"), "-jar", "target/quarkus-app/quarkus-run.jar"));
    }

    private static String javaTool(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
    }

    private static ForeignSdk go(String release) {
        return new ForeignSdk(
                "go-" + release,
                sources("go", release, List.of()),
                List.of(),
                List.of(List.of("sh", "-c", "GOTOOLCHAIN=auto go build -buildvcs=false -o driver .")),
                List.of("./driver"),
                List.of("./driver"));
    }

    private ForeignSdk withoutServer() {
        return new ForeignSdk(name, sources, lockFiles, installation, client, List.of());
    }

    private ForeignSdk withOwnSources() {
        return new ForeignSdk(name, List.of(name), lockFiles, installation, client, server);
    }

    private ForeignSdk withoutClient() {
        return new ForeignSdk(name, sources, lockFiles, installation, List.of(), server);
    }

    private static List<String> sources(String language, String release, List<String> shared) {
        var all = new ArrayList<String>();
        all.add(language + "-common");
        all.addAll(shared);
        all.add(language + "-" + release);
        return all;
    }

    private static final Duration INSTALLATION_LIMIT = Duration.ofMinutes(10);
    private static final AtomicInteger RUNS = new AtomicInteger();
    private static final Map<String, ReentrantLock> INSTALLING = new ConcurrentHashMap<>();
    private static final Duration RUN_LIMIT = Duration.ofMinutes(5);

    /** How far one came. */
    sealed interface Outcome {
        /** It was run, and found this out. */
        record Ran(List<Check> checks) implements Outcome {}

        /** It cannot be had on this machine: no interpreter, no registry. */
        record Unavailable(String reason) implements Outcome {}

        /** It did not come to its end. */
        record BrokeOff(String reason) implements Outcome {}
    }

    private interface Work {
        List<Check> in(Path directory) throws IOException;
    }

    boolean hasClient() {
        return !client.isEmpty();
    }

    /** True if a compiler takes long. */
    boolean isSlowToInstall() {
        return name.equals("a2a-rs") || name.startsWith("java-serve-");
    }

    boolean hasServer() {
        return !server.isEmpty();
    }

    /** True if threads of its server race for its tasks, so that on a busy machine their events and states get lost. */
    boolean losesEvents() {
        return name.startsWith("java-serve-");
    }

    /** Lets its client try everything with the agents of these hubs. */
    Outcome call(List<String> hubs) {
        var command = new ArrayList<String>(client);
        command.addAll(hubs);
        // Several suites may run it at a time.
        String log = "run-" + ProcessHandle.current().pid() + "-" + RUNS.incrementAndGet();
        return work(directory -> execute(directory, RUN_LIMIT, command, log).stream()
                .map(Check::parse)
                .toList());
    }

    /** Starts its server, which has to be installed. */
    public ForeignServer start(String... arguments) throws IOException {
        return ForeignServer.start(
                directory(),
                Stream.concat(server.stream(), Stream.of(arguments)).toList());
    }

    /** Lets a client try everything with its server. */
    Outcome serve(Function<ForeignServer, List<Check>> client) {
        return work(directory -> {
            try (var running = start()) {
                return client.apply(running);
            }
        });
    }

    /** Installs it unless that is done, and does something with it. */
    private Outcome work(Work work) {
        try {
            install();
        } catch (IOException failure) {
            return new Outcome.Unavailable(String.valueOf(failure.getMessage()));
        }
        try {
            return new Outcome.Ran(work.in(directory()));
        } catch (IOException failure) {
            return new Outcome.BrokeOff(String.valueOf(failure.getMessage()));
        }
    }

    /** Where it is installed. */
    public Path directory() {
        return Path.of("target", "interop", name);
    }

    /**
     * Installs it unless that is done.
     *
     * @throws IOException if it cannot be had on this machine
     */
    public void install() throws IOException {
        Files.createDirectories(directory());
        // Tests of this process may want the same one, and those of another.
        ReentrantLock lock = INSTALLING.computeIfAbsent(name, any -> new ReentrantLock());
        lock.lock();
        try (FileChannel file = FileChannel.open(
                        directory().resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock held = file.lock()) {
            requireNonNull(held);
            copyScript(directory());
            install(directory());
        } finally {
            lock.unlock();
        }
    }

    private List<String> files() throws IOException {
        var all = new ArrayList<String>();
        for (String source : sources) {
            try (Stream<Path> files = Files.list(Path.of("src", "test", source))) {
                files.filter(Files::isRegularFile)
                        .map(file -> file.getFileName().toString())
                        .sorted()
                        .forEach(all::add);
            }
        }
        return all;
    }

    private void copyScript(Path directory) throws IOException {
        for (String source : sources) {
            try (Stream<Path> files = Files.list(Path.of("src", "test", source))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    Path copy = directory.resolve(file.getFileName());
                    if (!Files.exists(copy) || Files.mismatch(file, copy) >= 0) {
                        Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
                    }
                }
            }
        }
    }

    private void install(Path directory) throws IOException {
        Path installed = directory.resolve("installed");
        var wanted = new StringBuilder();
        for (String file : lockFiles.isEmpty() ? files() : lockFiles) {
            wanted.append(Files.readString(directory.resolve(file)));
        }
        if (Files.exists(installed) && Files.readString(installed).contentEquals(wanted)) {
            return;
        }
        for (List<String> command : installation) {
            if (command.equals(UV_INSTALL)) {
                UV.install();
            }
            execute(directory, INSTALLATION_LIMIT, command, "install");
        }
        Files.writeString(installed, wanted);
    }

    /** A command in a directory. Python keeps its compiled modules, which some programs of a suite import many times. */
    static ProcessBuilder builder(Path directory, List<String> command) {
        var builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().remove("PYTHONDONTWRITEBYTECODE");
        return builder;
    }

    /** Returns the lines that the command printed. */
    static List<String> execute(Path directory, Duration limit, List<String> command, String log) throws IOException {
        Path output = directory.resolve(log + ".out");
        Path errors = directory.resolve(log + ".err");
        Process process = builder(directory, command)
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile())
                .start();
        try {
            if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
                throw new IOException("%s took more than %d s".formatted(String.join(" ", command), limit.toSeconds()));
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException(String.join(" ", command) + " was interrupted");
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            // Tools say such things in whatever encoding they like, and a failure must not hide behind that.
            String reason =
                    Files.readString(errors, Charset.forName("ISO-8859-1")).strip();
            throw new IOException(
                    "%s ended with %d: %s".formatted(String.join(" ", command), process.exitValue(), reason));
        }
        return Files.readAllLines(output);
    }
}
