package dev.parley.load;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.protocol.AgentCard;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code parley bench}: measures any A2A 1.0 agent under load. */
@Command(
        name = "bench",
        footer = {
            "",
            "Each connection sends its next request when it has the answer to the last one.",
            "Exit status 0 says that the run was made and reported, also when some requests failed."
        })
final class BenchCommand implements ProgramCommand {
    private static final String DEFAULT_TEXT = "hello";

    @Parameters(
            index = "0",
            paramLabel = "<what>",
            description =
                    "send: SendMessage; stream: SendStreamingMessage; get: GetTask; list: ListTasks, first page; call: JSON-RPC requests from --bodies.")
    private LoadKind kind = LoadKind.SEND;

    @ArgGroup(multiplicity = "1")
    private Address address = new Address();

    private static final class Address {
        @Option(names = "--url", description = "The agent, or its card: the address is taken from the card.")
        private @Nullable String url;

        @Option(names = "--agent-url", description = "The agent's endpoint itself; no card is asked for.")
        private @Nullable String agentUrl;
    }

    @Option(
            names = "--transport",
            description = "jsonrpc, rest, or for send also grpc (default: the first of the card; jsonrpc).")
    private @Nullable String transport;

    @Option(names = "--a2a-version", description = "Version or dialect, such as 0.3 (default: the first of the card).")
    private @Nullable String version;

    @Option(names = "--connections", defaultValue = "16", description = "Connections (default: ${DEFAULT-VALUE}).")
    private int connections;

    @Option(names = "--seconds", defaultValue = "10", description = "How long is measured (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
            names = "--warmup",
            defaultValue = "3",
            description = "Seconds of load before that (default: ${DEFAULT-VALUE}).")
    private int warmup;

    @Option(
            names = "--requests",
            defaultValue = "0",
            description = "End after this many measured requests (default: 0, which means by time only).")
    private long requests;

    @Option(
            names = "--timeout",
            defaultValue = "30",
            description = "Seconds without progress after which a request has failed (default: ${DEFAULT-VALUE}).")
    private int timeout;

    @ArgGroup
    private Content content = new Content();

    private static final class Content {
        @Option(names = "--text", description = "Text of each message (default: " + DEFAULT_TEXT + ").")
        private @Nullable String text;

        @Option(names = "--message-size", description = "Instead: send a text of this many characters.")
        private @Nullable Integer messageSize;
    }

    @Option(
            names = "--tasks",
            defaultValue = "1000",
            description = "get: tasks that are made first (default: ${DEFAULT-VALUE}).")
    private int tasks;

    @Option(names = "--page-size", defaultValue = "50", description = "list: page size (default: ${DEFAULT-VALUE}).")
    private int pageSize;

    @Option(
            names = "--bodies",
            paramLabel = "<file>",
            description = "call: a file with a request in each line; " + LoadRequest.NUMBER
                    + " in it is another hexadecimal number each time.")
    private @Nullable Path bodies;

    @Option(names = "--idle", description = "stream: open the streams once and hold them; the agent must wait.")
    private boolean idle;

    @Option(names = "--pid", description = "Id of the server's process: its memory and processor use are reported.")
    private @Nullable Long pid;

    @Option(names = "--header", paramLabel = "<name: value>", description = "Sent with each request; repeatable.")
    private List<String> headers = List.of();

    @Option(
            names = {"-o", "--output"},
            defaultValue = "text",
            description = "text or json (default: ${DEFAULT-VALUE}).")
    private String output = "text";

    @Override
    public List<String> settings() {
        return List.of("--ca", "--insecure");
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        try {
            return run(call.sslContext(), call.out(), call.err(), call.isTerminal());
        } catch (LoadProblem failed) {
            throw CommandException.of(
                    failed.kind(),
                    String.valueOf(failed.getMessage()),
                    "parley bench --help lists its arguments",
                    failed);
        }
    }

    int run(@Nullable SSLContext tls, PrintStream out, PrintStream err, boolean terminal) throws InterruptedException {
        if (!output.equals("text") && !output.equals("json")) {
            throw usage("--output: " + output + " (expected: text or json)");
        }
        if (idle && kind != LoadKind.STREAM) {
            throw usage("--idle goes with stream, not with " + kind);
        }
        var plan = new LoadPlan(
                kind,
                connections,
                Duration.ofSeconds(seconds),
                Duration.ofSeconds(warmup),
                Duration.ofSeconds(timeout),
                requests,
                text(),
                tasks,
                pageSize,
                bodies(),
                headers());
        LoadProcess server = pid == null ? null : new LoadProcess(pid);
        LoadTarget target = target(plan, tls);
        var progress = new LoadProgress(err, terminal);
        LoadReport report = idle
                ? LoadHold.measure(target, plan, progress, server)
                : LoadRun.measure(target, plan, progress, server);
        out.print(
                output.equals("json")
                        ? new String(Json.write(report.document()), StandardCharsets.UTF_8) + "\n"
                        : report.text());
        out.flush();
        return report.isUseless() ? 1 : 0;
    }

    private LoadTarget target(LoadPlan plan, @Nullable SSLContext tls) {
        String binding = binding();
        if (address.agentUrl != null) {
            return LoadTarget.at(address.agentUrl, binding, version, plan.headers(), tls);
        }
        if (address.url != null) {
            return LoadTarget.find(address.url, binding, version, plan.headers(), tls);
        }
        throw usage("--url is missing");
    }

    private @Nullable String binding() {
        return switch (transport) {
            case null -> null;
            case "jsonrpc" -> AgentCard.Interface.JSONRPC;
            case "rest" -> AgentCard.Interface.HTTP_JSON;
            case "grpc" -> AgentCard.Interface.GRPC;
            default -> throw usage("--transport: " + transport + " (expected: jsonrpc, rest or grpc)");
        };
    }

    private String text() {
        if (content.messageSize != null) {
            if (content.messageSize < 1) {
                throw usage("--message-size: " + content.messageSize + " (expected: >= 1)");
            }
            return "x".repeat(content.messageSize);
        }
        return content.text == null ? DEFAULT_TEXT : content.text;
    }

    private List<String> bodies() {
        if ((bodies != null) != (kind == LoadKind.CALL)) {
            throw usage("--bodies goes with call, and call with --bodies");
        }
        if (bodies == null) {
            return List.of();
        }
        try {
            List<String> lines = Files.readAllLines(bodies).stream()
                    .filter(line -> !line.isBlank())
                    .toList();
            if (lines.isEmpty()) {
                throw usage("--bodies: " + bodies + " is empty (expected: a JSON-RPC request in each line)");
            }
            return lines;
        } catch (IOException unreadable) {
            throw usage("--bodies: cannot read " + bodies + ": " + unreadable.getMessage());
        }
    }

    private Map<String, String> headers() {
        var all = new LinkedHashMap<String, String>();
        for (String header : headers) {
            int colon = header.indexOf(':');
            if (colon < 1) {
                throw usage("--header: " + header + " (expected: name: value)");
            }
            all.put(header.substring(0, colon), header.substring(colon + 1).strip());
        }
        return all;
    }

    private static LoadProblem usage(String message) {
        return new LoadProblem(Kind.USAGE, message);
    }
}
