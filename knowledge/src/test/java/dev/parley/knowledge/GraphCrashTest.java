package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Filter;
import dev.parley.store.database.Database;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills a process that changes a graph again and again, and looks whether all that was written agrees. */
@Timeout(300)
@Tag("heavy")
class GraphCrashTest {
    private static final String GROUP = "default";

    private final Set<String> done = new HashSet<>();
    private final Set<String> held = new HashSet<>();
    private final List<String> seen = new ArrayList<>();

    /** Processes that are killed one after another. */
    int kills() {
        return 20;
    }

    /** Updates that are acknowledged before a kill. */
    int updates() {
        return 200;
    }

    /** Address of the server of the statements; null if they are in the database. */
    @Nullable
    String sparql() {
        return null;
    }

    @Test
    @Timeout(900) // up to twenty starts of a JVM, beside other suites on two cores
    void whatWasAcknowledgedIsThereAfterManyKillsAndEverythingAgrees(@TempDir Path directory) throws Exception {
        for (int life = 0; life < kills(); life++) {
            live(directory, life);
        }
        try (Database database = Database.open(directory);
                Graph graph = CrashedGraph.open(database, sparql())) {
            readOn(graph);
            check(database, graph);
        }
    }

    private void live(Path directory, int life) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1", // a process lives for a second or two
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                CrashedGraph.class.getName(),
                directory.toString(),
                Integer.toString(life)));
        if (sparql() != null) {
            command.add(1, "-D" + CrashedGraph.SPARQL + "=" + sparql());
        }
        if (!seen.isEmpty()) {
            command.add(seen.getLast());
        }
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            int before = done.size() + held.size();
            boolean killed = false;
            // What was said before the kill counts, also if it is read after it; a line may be cut.
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                note(line);
                if (!killed && done.size() + held.size() >= before + updates()) {
                    process.toHandle().destroyForcibly(); // not by Process, which would close what is yet to be read
                    killed = true;
                }
            }
            assertThat(killed).as("the process lived until it was killed").isTrue();
        }
        process.waitFor();
    }

    private void note(String line) {
        int space = line.indexOf(' ');
        String what = space < 0 ? "" : line.substring(0, space);
        String id = line.substring(space + 1);
        switch (what) {
            case "done" -> done.add(id);
            case "held" -> held.add(id);
            case "seen" -> {
                if (id.length() == 36) {
                    seen.add(id);
                }
            }
            default -> {}
        }
    }

    /** The reader comes back once more and reads to the end. */
    private void readOn(Graph graph) throws InterruptedException {
        try (Feed<Change> changes = graph.subscribe(
                Subscribe.graphql("subscription { knowledgeChanged { op } }", Map.of())
                        .with(Map.of("afterChangeId", seen.getLast())),
                CallContext.anonymous())) {
            List<Change> news = changes.next(Duration.ZERO);
            while (news != null && !news.isEmpty()) {
                news.forEach(change -> seen.add(change.changeId()));
                news = changes.next(Duration.ZERO);
            }
        }
    }

    private void check(Database database, Graph graph) {
        var there = new HashSet<String>();
        var changeIds = new HashSet<String>();
        graph.read(CallContext.anonymous(), view -> {
            String after = null;
            do {
                StatementPage<Fact> page = view.statements(Pattern.ALL, after, 1_000);
                for (Fact fact : page.items()) {
                    there.add(fact.statement().subject().id());
                    changeIds.add(String.valueOf(fact.statement().provenance().get("changeId")));
                }
                after = page.next();
            } while (after != null);
            assertThat(view.graphs())
                    .singleElement()
                    .satisfies(all -> assertThat(all.statements()).isEqualTo(there.size()));
            return there;
        });
        var waiting = new HashSet<String>();
        String after = null;
        do {
            StatementPage<Review> page = graph.reviews(GROUP, Review.State.PENDING, after, 100);
            page.items()
                    .forEach(review -> waiting.add(review.update()
                            .mutations()
                            .getFirst()
                            .statement()
                            .subject()
                            .id()));
            after = page.next();
        } while (after != null);

        assertThat(there).containsAll(done);
        assertThat(waiting).containsAll(held);
        assertThat(seen).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(changeIds);
        assertThat(audited(database, "Verified")).isEqualTo(there.size());
        assertThat(audited(database, "Pending Review")).isEqualTo(waiting.size());
        System.out.printf(
                "%d updates acknowledged, %d waiting, %d statements and as many changes%n",
                done.size(), held.size(), there.size());
    }

    private static int audited(Database database, String outcome) {
        AuditTrail trail = AuditTrail.reading(database);
        var updates = new Filter(GROUP, null, "knowledge.updated", null, null, null);
        int found = 0;
        long after = 0;
        List<AuditRow> rows;
        do {
            rows = trail.rows(updates, after, 1_000);
            for (AuditRow row : rows) {
                found += row.entry().outcome().equals(outcome) ? 1 : 0;
                after = row.number();
            }
        } while (!rows.isEmpty());
        return found;
    }
}
