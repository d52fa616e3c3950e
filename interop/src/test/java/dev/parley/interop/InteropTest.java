package dev.parley.interop;

import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;

import dev.parley.interop.Check.Result;
import dev.parley.interop.ForeignSdk.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The clients of others, as they are published, against a hub, and our client against their servers.
 *
 * <p>Skipped where they cannot be installed, unless the system property {@code parley.interop.required} is {@code true}.
 * With {@code parley.docs.update} being {@code true} the results are written into {@code docs/interop.md}; otherwise they
 * have to be the ones that it tells.
 */
class InteropTest {
    /** What cannot pass, whoever the server is; the document tells why. */
    private static final Map<String, Set<String>> FAULTS_OF_CLIENTS = Map.of(
            "Go 2.4.0 jsonrpc",
            Set.of("errors"),
            "Python 0.3.26 rest",
            Set.of("send files"),
            "Java 0.3.3.Final rest",
            Set.of("send files", "get"),
            "Java 0.2.5 jsonrpc",
            Set.of(
                    "send",
                    "send files",
                    "send again when asked",
                    "stream",
                    "stream of 2,000 events",
                    "stream up to a question",
                    "get",
                    "cancel",
                    "subscribe",
                    "push config: create",
                    "push config: get",
                    "push config: list",
                    "push config: delete",
                    "webhook",
                    "errors"));

    /** What cannot pass, whoever the client is; the document tells why. */
    private static final Map<String, Set<String>> FAULTS_OF_SERVERS = Map.of(
            "JavaScript 0.3.14 jsonrpc",
            Set.of("get"),
            "JavaScript 0.3.14 rest",
            Set.of("get", "errors"),
            "JavaScript 0.3.14 grpc",
            Set.of("send files"),
            "JavaScript 0.2.5 jsonrpc",
            Set.of("get", "cancel"),
            "Python 0.3.26 rest",
            Set.of("push config: list"),
            "Java 0.3.3.Final rest",
            Set.of("send files"),
            "Java 0.3.2.Final grpc",
            Set.of("send files"),
            "Python 0.2.16 jsonrpc",
            Set.of("send without waiting", "errors"),
            "Java 0.2.5 jsonrpc",
            Set.of("send without waiting"));

    /** How often a server that loses events of its own may be tried before that counts; the document tells why. */
    private static final int RUNS_WITH_LOSSES = 3;

    /** Kept for a repetition of the class, which tries again what failed. */
    private static final Map<ForeignSdk, Outcome> OF_CLIENTS = new HashMap<>();

    private static final Map<ForeignSdk, Outcome> OF_SERVERS = new HashMap<>();

    @TempDir
    static Path data;

    private static Hubs hubs;

    @BeforeAll
    static void start() {
        OF_CLIENTS.values().removeIf(outcome -> !Results.isExpected(outcome, FAULTS_OF_CLIENTS));
        OF_SERVERS.values().removeIf(outcome -> !Results.isExpected(outcome, FAULTS_OF_SERVERS));
        hubs = new Hubs(data);
        Thread.startVirtualThread(InteropTest::prepare);
    }

    /** Builds the slowest while clients are tried. */
    private static void prepare() {
        for (ForeignSdk sdk : ForeignSdk.ALL) {
            if (sdk.isSlowToInstall()) {
                try {
                    sdk.install();
                } catch (IOException failure) {
                    return; // its own tests tell why
                }
            }
        }
    }

    @AfterAll
    static void stop() {
        hubs.close();
    }

    @TestFactory
    @DisplayName("AV20, GEM04: each client does everything that it can")
    Stream<DynamicNode> everyClient() {
        return ForeignSdk.ALL.stream()
                .filter(ForeignSdk::hasClient)
                .map(sdk -> dynamicContainer(
                        sdk.name(), Stream.of(sdk).flatMap(it -> tests(ofClient(it), FAULTS_OF_CLIENTS))));
    }

    @TestFactory
    @DisplayName("our client does with each server everything that it offers")
    Stream<DynamicNode> everyServer() {
        return ForeignSdk.ALL.stream()
                .filter(ForeignSdk::hasServer)
                .map(sdk -> dynamicContainer(
                        sdk.name(), Stream.of(sdk).flatMap(it -> tests(ofServer(it), FAULTS_OF_SERVERS))));
    }

    @Test
    void theDocsTellWhatWasSeen() throws IOException {
        String clients = ResultTable.of(Results.checks(
                ForeignSdk.ALL.stream().filter(ForeignSdk::hasClient).map(InteropTest::ofClient)));
        String servers = ResultTable.of(Results.checks(
                ForeignSdk.ALL.stream().filter(ForeignSdk::hasServer).map(InteropTest::ofServer)));

        Results.assertDocumented("results of clients", clients);
        Results.assertDocumented("results with servers", servers);
    }

    private static Stream<DynamicTest> tests(Outcome outcome, Map<String, Set<String>> faults) {
        return Results.tests(outcome, check -> Results.assertExpected(check, faults));
    }

    /** What became of a client; it is run once, by the first test that asks. */
    private static Outcome ofClient(ForeignSdk sdk) {
        return OF_CLIENTS.computeIfAbsent(sdk, it -> it.call(hubs.arguments()));
    }

    /** What became of our client with a server; it is run once, by the first test that asks. */
    private static Outcome ofServer(ForeignSdk sdk) {
        return OF_SERVERS.computeIfAbsent(sdk, it -> {
            Outcome outcome = it.serve(OwnClient::checks);
            for (int runs = 1; runs < RUNS_WITH_LOSSES && it.losesEvents(); runs++) {
                if (!(outcome instanceof Outcome.Ran(var checks))
                        || checks.stream().allMatch(InteropTest::isAsExpected)) {
                    break;
                }
                outcome = it.serve(OwnClient::checks) instanceof Outcome.Ran(var again)
                        ? new Outcome.Ran(best(checks, again))
                        : outcome;
            }
            return outcome;
        });
    }

    private static boolean isAsExpected(Check check) {
        return check.result() != Result.FAILED || Results.isFault(check, FAULTS_OF_SERVERS);
    }

    /** What has passed once has passed. */
    private static List<Check> best(List<Check> first, List<Check> second) {
        return IntStream.range(0, first.size())
                .mapToObj(i -> first.get(i).result() == Result.FAILED ? second.get(i) : first.get(i))
                .toList();
    }
}
