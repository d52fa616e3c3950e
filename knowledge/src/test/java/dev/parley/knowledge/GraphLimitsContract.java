package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.journal.ChangeStore;
import dev.parley.knowledge.model.EntityFilter;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.LoggedQuery;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.store.SqlView;
import dev.parley.knowledge.store.StatementStoreContract;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Feed;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Filter;
import dev.parley.store.database.Database;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What one caller can cost a graph, and what a graph forgets, whichever database it is in. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class GraphLimitsContract {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final int MEBI = 1 << 20;
    private static final ChangeStore.Keeping KEEPING =
            new ChangeStore.Keeping(50, Duration.ofDays(7), 40, Duration.ofDays(1), 20);
    private static final String WATCH = "subscription { knowledgeChanged { op } }";
    private static final AtomicInteger GROUPS = new AtomicInteger();

    private final StatementStoreContract.Clock clock = new StatementStoreContract.Clock();
    private Database database;
    private AuditTrail trail;
    private Graph graph;
    private CallContext context = CallContext.anonymous();

    /** Opens an empty database. */
    abstract Database database(Path directory) throws IOException;

    @BeforeAll
    void open(@TempDir Path directory) throws IOException {
        database = database(directory);
        trail = AuditTrail.in(database, clock);
        graph = Graph.in(database, trail, clock, clock, KEEPING);
    }

    @AfterAll
    void close() throws IOException {
        graph.close();
        database.close();
    }

    @BeforeEach
    void begin() {
        context = CallContext.of("anonymous", new Scope("limits-" + GROUPS.incrementAndGet(), "anonymous"));
    }

    private String group() {
        return context.scope().group();
    }

    private static Statement says(int number, String text) {
        return Statement.of("ex:p%03d".formatted(number), "ex:text", Literal.of(text));
    }

    /** A text of a mebibyte, another one for each number. */
    private static String mebibyte(int number) {
        return "%07d ".formatted(number).repeat(MEBI / 8);
    }

    private void load(int statements) {
        graph.load(
                IntStream.range(0, statements)
                        .mapToObj(i -> says(i, mebibyte(i)))
                        .toList(),
                context,
                "file");
    }

    private UpdateResult update(Patch... patches) {
        return graph.update(Update.of(patches), context);
    }

    private @Nullable Object ask(String query) {
        return graph.query(Query.graphql(query, Map.of()), context).data();
    }

    private Feed<Change> watch(Map<String, @Nullable Object> metadata) {
        return graph.subscribe(Subscribe.graphql(WATCH, Map.of()).with(metadata), context);
    }

    private static List<Change> some(Feed<Change> changes) throws InterruptedException {
        List<Change> some = Objects.requireNonNull(changes.next(SOON));
        assertThat(some).isNotEmpty();
        return some;
    }

    private static void assertRefused(ThrowingCallable asking, ErrorKind error, String reason) {
        assertThatThrownBy(asking).isInstanceOfSatisfying(A2AException.class, refused -> {
            assertThat(refused.error()).isEqualTo(error);
            assertThat(refused.metadata()).containsEntry("reason", reason);
        });
    }

    // ---- What is read

    @Test
    void aTextSearchReadsTheStatementsOfASubjectOnce() {
        for (int batch = 0; batch < 16; batch++) {
            int from = batch * 1_000;
            graph.load(
                    IntStream.range(from, from + 1_000)
                            .mapToObj(i -> Statement.of("ex:much", "ex:text", Literal.of("text " + i)))
                            .toList(),
                    context,
                    "file");
        }
        graph.load(List.of(Statement.of("ex:other", "ex:text", Literal.of("needle"))), context, "file");

        // Reading them once for each of them took longer than the 10 s that there are.
        assertThat(ask("{ entities(text: \"nothing has this\") { nodes { id } } }"))
                .isEqualTo(Map.of("entities", Map.of("nodes", List.of())));
        assertThat(ask("{ entities(text: \"needle\", orderBy: \"ex:text\") { nodes { id } } }"))
                .isEqualTo(Map.of("entities", Map.of("nodes", List.of(Map.of("id", "ex:other")))));
        assertThat(
                        ask(
                                "{ entities(where: {predicate: \"ex:text\", is: CONTAINS, values: \"text 15999\"}) { nodes { id } } }"))
                .isEqualTo(Map.of("entities", Map.of("nodes", List.of(Map.of("id", "ex:much")))));
    }

    @Test
    void longStatementsComeInShorterPages() {
        load(40);

        List<StatementPage<Fact>> pages = graph.read(context, view -> {
            var all = new ArrayList<StatementPage<Fact>>();
            String next = null;
            do {
                all.add(view.statements(Pattern.ALL, next, 1_000));
                next = all.getLast().next();
            } while (next != null);
            return all;
        });

        assertThat(pages)
                .hasSizeGreaterThan(2)
                .allSatisfy(page -> assertThat(page.items()).hasSizeBetween(1, 17));
        assertThat(pages.stream().flatMap(page -> page.items().stream()))
                .hasSize(40)
                .doesNotHaveDuplicates();
    }

    @Test
    void longStatementsOfManySubjectsAreCutOffWhereTheyGoOn() {
        load(40);
        List<String> subjects =
                IntStream.range(0, 40).mapToObj(i -> "ex:p%03d".formatted(i)).toList();

        List<Statement> found = graph.read(context, view -> {
            var all = new ArrayList<Statement>();
            Map<String, StatementPage<Fact>> first = view.about(subjects, Pattern.ALL, null, 10);
            first.forEach((subject, page) -> {
                page.items().forEach(fact -> all.add(fact.statement()));
                if (page.next() != null) {
                    view.about(List.of(subject), Pattern.ALL, page.next(), 10)
                            .getOrDefault(subject, StatementPage.empty())
                            .items()
                            .forEach(fact -> all.add(fact.statement()));
                }
            });
            assertThat(first.values().stream()
                            .mapToInt(page -> page.items().size())
                            .sum())
                    .isBetween(1, 17);
            return all;
        });

        assertThat(found).extracting(one -> one.subject().id()).containsExactlyInAnyOrderElementsOf(subjects);
    }

    @Test
    void anAnswerThatIsTooLongIsRefused() {
        load(10);

        assertRefused(
                () -> ask("{ statements { nodes { object { value } } } }"), KnowledgeError.KNOWLEDGE_QUERY, "size");
        assertThat(ask("{ statements(first: 3) { nodes { object { value } } } }"))
                .isNotNull();
    }

    @Test
    void aTextThatIsAskedForAgainAndAgainCountsEachTime() {
        load(1);
        var again = new StringBuilder("{ statements { nodes {");
        for (int i = 0; i < 20; i++) {
            again.append(" a").append(i).append(": object { value }");
        }

        assertRefused(() -> ask(again + "} } }"), KnowledgeError.KNOWLEDGE_QUERY, "size");
    }

    @Test
    void whatAllStatementsOfAnUpdateHaveInCommonCountsForEach() {
        Patch[] patches = IntStream.range(0, 1_000)
                .mapToObj(i -> Patch.add(says(i, "short")))
                .toArray(Patch[]::new);
        graph.update(Update.of(patches).saying(null, mebibyte(0)), context);

        assertRefused(
                () -> ask("{ statements(first: 1000) { nodes { provenance } } }"),
                KnowledgeError.KNOWLEDGE_QUERY,
                "size");
        assertThat(trail.rows(new Filter(group(), null, "knowledge.updated", null, null, null), 0, 10))
                .singleElement()
                .asString()
                .hasSizeLessThan(10_000);
    }

    @Test
    void aPathThroughTooMuchTextIsRefused() {
        for (int i = 0; i < 20; i++) {
            update(Patch.add(Statement.of("ex:from", "ex:to", Term.Resource.of("ex:over-" + i))
                    .withProvenance(Map.of("log", mebibyte(i)))));
        }

        assertRefused(
                () -> ask("{ path(from: \"ex:from\", to: \"ex:nowhere\") { predicate } }"),
                KnowledgeError.KNOWLEDGE_QUERY,
                "execution");
    }

    @Test
    void onlyShortTextsAreLookedFor() {
        update(Patch.add(says(0, "a".repeat(MEBI))));
        String almost = "a".repeat(EntityFilter.MAX_TEXT) + "b";
        String inText = "query($t: String) { entities(text: $t) { nodes { id } } }";
        String inValue =
                "query($t: Any!) { entities(where: {predicate: \"ex:text\", is: CONTAINS, values: [$t]}) { nodes { id } } }";

        for (String query : List.of(inText, inValue)) {
            assertRefused(
                    () -> graph.query(Query.graphql(query, Map.of("t", almost)), context),
                    KnowledgeError.KNOWLEDGE_QUERY,
                    "execution");
            assertThat(graph.query(Query.graphql(query, Map.of("t", almost.substring(1))), context)
                            .data())
                    .asString()
                    .contains("nodes=[]");
        }
    }

    // ---- What is watched

    @Test
    void aSnapshotIsReadPieceByPiece() throws Exception {
        for (int i = 0; i < 600; i += 100) {
            int from = i;
            update(IntStream.range(from, from + 100)
                    .mapToObj(n -> Patch.add(says(n, "before")))
                    .toArray(Patch[]::new));
        }
        try (Feed<Change> changes = watch(Map.of("snapshot", true))) {
            var seen = new ArrayList<>(some(changes));
            assertThat(seen).hasSizeLessThan(600);
            update(
                    Patch.replace(says(599, "meanwhile")),
                    Patch.remove(says(598, "before")),
                    Patch.add(says(1_000, "meanwhile")));

            while (!seen.getLast().statement().subject().id().equals("ex:p1000")) {
                seen.addAll(some(changes));
            }

            assertThat(seen.subList(0, 598)).allSatisfy(change -> {
                assertThat(change.metadata()).containsEntry("snapshot", true);
                assertThat(change.statement().object()).isEqualTo(Literal.of("before"));
            });
            assertThat(seen.subList(598, seen.size()))
                    .extracting(Change::op)
                    .containsExactly(Patch.Op.REPLACE, Patch.Op.REMOVE, Patch.Op.ADD);
        }
    }

    @Test
    void longChangesAreReadFewAtATime() throws Exception {
        String begin;
        try (Feed<Change> changes = watch(Map.of())) {
            update(Patch.add(says(0, "begin")));
            begin = some(changes).getFirst().changeId();
        }
        for (int i = 1; i <= 20; i++) {
            update(Patch.replace(says(0, mebibyte(i))));
        }

        try (Feed<Change> changes = watch(Map.of("afterChangeId", begin))) {
            int seen = 0;
            while (seen < 20) {
                List<Change> some = some(changes);
                assertThat(some).hasSizeLessThanOrEqualTo(5);
                seen += some.size();
            }
        }
    }

    @Test
    void aSubscriptionHasToBeShort() {
        Subscribe long1 = Subscribe.graphql(
                "subscription($s: [ID!]) { knowledgeChanged(filter: {subjects: $s}) { op } }",
                Map.of("s", List.of(mebibyte(0))));

        assertRefused(() -> graph.subscribe(long1, context), KnowledgeError.KNOWLEDGE_SUBSCRIPTION, "size");
    }

    // ---- What waits

    @Test
    void longUpdatesThatWaitAreListedInPieces() {
        graph.rules(group(), Alignment.read("{\"rules\":[{\"id\":\"r\",\"effect\":\"review\",\"on\":\"update\"}]}"));
        for (int i = 0; i < 10; i++) {
            update(Patch.add(says(i, mebibyte(i))));
        }

        StatementPage<Review> first = graph.reviews(group(), null, null, 100);
        StatementPage<Review> next = graph.reviews(group(), null, first.next(), 100);

        assertThat(first.items()).hasSizeBetween(1, 5);
        assertThat(next.items()).hasSizeBetween(1, 5).doesNotContainAnyElementsOf(first.items());
    }

    @Test
    void whatUpdatesAreFoundByHasToBeShort() {
        Update update = Update.of(Patch.add(says(0, "x")));
        String long1 = "k".repeat(501);

        for (Update one : List.of(
                update.with(Map.of("idempotencyKey", long1)), update.forTask(long1), update.saying(long1, null))) {
            assertThatThrownBy(() -> graph.update(one, context))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            refused -> assertThat(refused.error()).isEqualTo(A2AError.INVALID_PARAMS));
        }
    }

    // ---- What is forgotten

    private void makeChanges(int count) {
        for (int i = 0; i < count; i++) {
            update(Patch.replace(says(0, "change " + clock.now + " " + i)));
            graph.awaitSweep();
        }
    }

    @Test
    void changesBeyondTheirNumberAreForgotten() throws Exception {
        String begin;
        try (Feed<Change> changes = watch(Map.of())) {
            graph.update(Update.of(Patch.add(says(1, "begin"))).forTask("t1"), context);
            begin = some(changes).getFirst().changeId();
        }
        assertThat(graph.changesOf("t1", context)).containsExactly(begin);

        makeChanges(90);

        assertRefused(() -> watch(Map.of("afterChangeId", begin)), KnowledgeError.KNOWLEDGE_SUBSCRIPTION, "expired");
        assertThat(graph.changesOf("t1", context)).isEmpty();
        assertThat(changes()).hasSizeBetween(50, 70);
        assertThat(ask("{ statements(filter: {subjects: [\"ex:p001\"]}) { nodes { predicate } } }"))
                .asString()
                .contains("ex:text");
    }

    @Test
    void oldChangesAreForgottenButForTheNewest() {
        makeChanges(3);
        CallContext quiet = context;
        long revision = revision();
        clock.now = clock.now.plus(Duration.ofDays(8));
        begin();

        makeChanges(30);

        context = quiet;
        assertThat(revision()).isEqualTo(revision);
        assertThat(changes()).hasSize(1);
    }

    private List<?> changes() {
        Map<?, ?> data = (Map<?, ?>) Objects.requireNonNull(ask("{ changes(first: 1000) { nodes { op } } }"));
        return (List<?>) Objects.requireNonNull(((Map<?, ?>) Objects.requireNonNull(data.get("changes"))).get("nodes"));
    }

    private long revision() {
        Object revision = graph.query(Query.graphql("{ graphs { name } }", Map.of()), context)
                .metadata()
                .get("revision");
        return ((Number) Objects.requireNonNull(revision)).longValue();
    }

    @Test
    void whoBeganBeforeTheFirstChangeIsToldWhatWasForgotten() {
        String beginning = graph.read(context, view -> ((SqlView) view).space().changeId(0));

        makeChanges(90);

        assertRefused(
                () -> watch(Map.of("afterChangeId", beginning)), KnowledgeError.KNOWLEDGE_SUBSCRIPTION, "expired");
    }

    @Test
    void theOldestLoggedQueriesAreForgotten() {
        for (int i = 0; i < 90; i++) {
            ask("{ graphs { name } }");
            makeChanges(1); // after the record of the query
        }

        List<LoggedQuery> logged = graph.queries(group(), 0, 1_000);
        List<Long> numbers = loggedNumbers();

        // The limit is that of all groups together: calls of other tests may have rows among the newest.
        assertThat(numbers).hasSizeBetween(40, 60);
        assertThat(numbers.getLast() - numbers.getFirst()).isEqualTo(numbers.size() - 1);
        assertThat(logged)
                .hasSizeGreaterThan(20)
                .extracting(LoggedQuery::number)
                .isSubsetOf(numbers);
    }

    @Test
    void keysAreForgottenAfterTheirTime() {
        Update update = Update.of(Patch.add(says(0, "x"))).with(Map.of("idempotencyKey", "k"));
        UpdateResult first = graph.update(update, context);
        UpdateResult again = graph.update(update, context);
        long keys = keys();
        graph.awaitSweep(); // it would take what comes after the jump for keys of a wrong clock
        clock.now = clock.now.plus(Duration.ofDays(1)).plusSeconds(1);

        UpdateResult anew = graph.update(update, context);
        makeChanges(30);

        assertThat(again).isEqualTo(first);
        assertThat(anew.statementsAffected()).isZero();
        assertThat(keys).isPositive();
        assertThat(keys()).isEqualTo(1);
    }

    private List<Long> loggedNumbers() {
        return database.read(session -> {
            try (var rows = session.bind("SELECT audit_no FROM kg_audit ORDER BY audit_no")
                    .executeQuery()) {
                var numbers = new ArrayList<Long>();
                while (rows.next()) {
                    numbers.add(rows.getLong(1));
                }
                return numbers;
            }
        });
    }

    private long keys() {
        return database.read(session -> {
            try (var row = session.bind("SELECT count(*) FROM kg_key").executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        });
    }
}
