package dev.parley.guards;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.Source;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.parley.engine.scheduling.Guarded;
import dev.parley.guards.locks.LockedCalls;
import dev.parley.guards.planted.locks.QuickUnderLocks;
import dev.parley.guards.planted.locks.SlowUnderLocks;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No call waits for a disk, a network, a process or a thread under a lock that other callers need (docs/adr/0115). */
final class LocksTest {
    private static final Path RESOURCES = Path.of("src/test/resources/dev/parley/guards");
    private static final String PLANTED = SlowUnderLocks.class.getName() + "#";

    @Test
    void noCallWaitsUnderALockThatReadersTake() throws IOException {
        Set<String> excepted = listed("blocking-under-locks.txt");
        Set<String> quick = listed("never-blocking.txt");

        LockedCalls calls = LockedCalls.in(locations(ProductClasses.ALL));
        Map<String, Set<String>> found = calls.without(quick);

        assertThat(unlisted(found, excepted)).isEmpty();
        assertThat(unused(found, excepted)).isEmpty();
        assertThat(idle(calls, quick)).isEmpty();
    }

    @Test
    void plantedCallsUnderLocksAreFound() {
        Map<String, Set<String>> found = planted(SlowUnderLocks.class);

        assertThat(found)
                .containsOnlyKeys(
                        PLANTED + "writesTwoCallsDeep",
                        PLANTED + "asksADatabase",
                        PLANTED + "sendsInALambda",
                        PLANTED + "readsForAnEntry",
                        PLANTED + "waitsForAThread",
                        PLANTED + "waitsForAnotherLock");
        assertThat(found.get(PLANTED + "writesTwoCallsDeep"))
                .singleElement()
                .asString()
                .matches(
                        "SlowUnderLocks#writesTwoCallsDeep:\\d+ > SlowUnderLocks#first:\\d+ > SlowUnderLocks#second:\\d+"
                                + " > java.nio.file.Files#writeString");
        assertThat(found.get(PLANTED + "asksADatabase"))
                .singleElement()
                .asString()
                .endsWith("java.sql.Connection#commit");
        assertThat(found.get(PLANTED + "sendsInALambda"))
                .singleElement()
                .asString()
                .endsWith("java.net.http.HttpClient#send");
    }

    @Test
    void callsAfterALockAreNotFound() {
        assertThat(planted(QuickUnderLocks.class)).isEmpty();
    }

    @Test
    void aPlantedLineWithoutACallIsFound() {
        Map<String, Set<String>> found = planted(SlowUnderLocks.class);

        assertThat(unused(found, Set.of(PLANTED + "*", PLANTED + "gone"))).containsExactly(PLANTED + "gone");
        assertThat(unlisted(found, Set.of(PLANTED + "*"))).isEmpty();
        assertThat(unlisted(found, Set.of(PLANTED + "waitsForAThread"))).hasSize(5);
    }

    @Test
    void aPlantedMethodThatIsQuickAnywayIsFound() {
        LockedCalls calls = calls(SlowUnderLocks.class);

        assertThat(idle(calls, Set.of(PLANTED + "second", PLANTED + "gone"))).containsExactly(PLANTED + "gone");
    }

    private static Map<String, Set<String>> planted(Class<?> type) {
        return calls(type).without(Set.of());
    }

    private static LockedCalls calls(Class<?> type) {
        return LockedCalls.in(
                locations(new ClassFileImporter().importClasses(type, QuickUnderLocks.class, Guarded.class)));
    }

    /** Methods that never wait, but without which the same calls are found. */
    private static Set<String> idle(LockedCalls calls, Set<String> quick) {
        Map<String, Set<String>> found = calls.without(quick);
        var idle = new TreeSet<String>();
        for (String method : quick) {
            var others = new TreeSet<>(quick);
            others.remove(method);
            if (calls.without(others).equals(found)) {
                idle.add(method);
            }
        }
        return idle;
    }

    /** Places of the class files. */
    private static List<URI> locations(JavaClasses classes) {
        return classes.stream()
                .map(JavaClass::getSource)
                .flatMap(source -> source.stream().map(Source::getUri))
                .toList();
    }

    /** Methods of a list, whose lines are a method, or a class with {@code #*}, and the reason why it is there. */
    private static Set<String> listed(String file) throws IOException {
        try (Stream<String> lines = Files.lines(RESOURCES.resolve(file))) {
            return lines.filter(line -> !line.startsWith("#"))
                    .map(line -> line.split(" ", 2))
                    .peek(parts -> assertThat(parts).as("method and reason").hasSize(2))
                    .map(parts -> parts[0])
                    .collect(toCollection(TreeSet::new));
        }
    }

    private static Map<String, Set<String>> unlisted(Map<String, Set<String>> found, Set<String> listed) {
        return found.entrySet().stream()
                .filter(each -> listed.stream().noneMatch(line -> holds(line, each.getKey())))
                .collect(toMap(Map.Entry::getKey, Map.Entry::getValue, (one, other) -> one, TreeMap::new));
    }

    /** Lines for which nothing is found any more. */
    private static List<String> unused(Map<String, Set<String>> found, Set<String> listed) {
        return listed.stream()
                .filter(line -> found.keySet().stream().noneMatch(method -> holds(line, method)))
                .toList();
    }

    private static boolean holds(String line, String method) {
        return line.endsWith("#*") ? method.startsWith(line.substring(0, line.length() - 1)) : line.equals(method);
    }
}
