package dev.parley.interop;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.parley.interop.Check.Result;
import dev.parley.interop.ForeignSdk.Outcome;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/** Tests made from outcomes, and the comparison of their tables with those in {@code docs/interop.md} and {@code docs/conformance.md}. */
final class Results {
    private static final Path DOCUMENT = Path.of("..", "docs", "interop.md");
    private static final Path CONFORMANCE = Path.of("..", "docs", "conformance.md");

    private Results() {}

    /** One test for each check of an outcome; one that skips where the program cannot be installed. */
    static Stream<DynamicTest> tests(Outcome outcome, Consumer<Check> assertion) {
        return switch (outcome) {
            case Outcome.Ran(var checks) ->
                checks.stream()
                        .map(check ->
                                dynamicTest(check.column() + ": " + check.operation(), () -> assertion.accept(check)));
            case Outcome.BrokeOff(var reason) -> Stream.of(dynamicTest("comes to its end", () -> fail(reason)));
            case Outcome.Unavailable(var reason) ->
                Stream.of(dynamicTest("can be installed", () -> Requirement.missing(reason)));
        };
    }

    /**
     * Asserts that a check did not fail.
     *
     * @param faults the operations that fail with any peer, by column; one of them that passes fails the test, so that the
     *     list and the document stay true
     */
    static void assertExpected(Check check, Map<String, Set<String>> faults) {
        if (isFault(check, faults)) {
            assertThat(check.result()).as("a fault that is gone").isEqualTo(Result.FAILED);
        } else {
            assertThat(check.result()).as(check.detail()).isNotEqualTo(Result.FAILED);
        }
    }

    /** Whether all checks of an outcome came out as they should; a repetition of a class tries the others again. */
    static boolean isExpected(Outcome outcome, Map<String, Set<String>> faults) {
        return outcome instanceof Outcome.Ran(var checks)
                && checks.stream().allMatch(check -> (check.result() == Result.FAILED) == isFault(check, faults));
    }

    static boolean isFault(Check check, Map<String, Set<String>> faults) {
        return faults.getOrDefault(check.column(), Set.of()).contains(check.operation());
    }

    /** The checks of all outcomes; skips the test if one of them has none. */
    static List<Check> checks(Stream<Outcome> outcomes) {
        return outcomes.flatMap(outcome -> switch (outcome) {
                    case Outcome.Ran(var checks) -> checks.stream();
                    case Outcome.Unavailable(var reason) -> abort(reason);
                    case Outcome.BrokeOff(var reason) -> abort(reason);
                })
                .toList();
    }

    /**
     * Asserts that the document has these tables in the place with this name. With the system property
     * {@code parley.docs.update} being {@code true} they are written there first.
     */
    static void assertDocumented(String place, String tables) throws IOException {
        assertDocumented(DOCUMENT, place, tables);
    }

    /** As {@link #assertDocumented(String, String)}, of peers that speak MCP. */
    static void assertDocumentedOfMcp(String place, String tables) throws IOException {
        assertDocumented(CONFORMANCE, place, tables);
    }

    private static void assertDocumented(Path file, String place, String tables) throws IOException {
        if (Boolean.getBoolean("parley.docs.update")) {
            // Classes run in several processes.
            try (FileChannel channel = FileChannel.open(Path.of("target", "documents.lock"), CREATE, WRITE);
                    FileLock held = channel.lock()) {
                requireNonNull(held);
                Files.writeString(file, ResultTable.replaceIn(Files.readString(file), place, tables));
            }
        }

        String document = Files.readString(file);
        assertThat(document).isEqualTo(ResultTable.replaceIn(document, place, tables));
    }
}
