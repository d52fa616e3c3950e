package dev.parley.knowledge.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.EntityFilter;
import dev.parley.knowledge.model.EntityFilter.Comparison;
import dev.parley.knowledge.model.EntityFilter.Condition;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import dev.parley.protocol.InvalidField;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every store of statements has to do. */
public abstract class StatementStoreContract {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final AtomicInteger GROUPS = new AtomicInteger();

    /** By this clock statements are confirmed. */
    public static final class Clock implements InstantSource {
        public Instant now = Instant.parse("2026-01-05T10:00:00Z");

        @Override
        public Instant instant() {
            return now;
        }
    }

    public final Clock clock = new Clock();
    private String group = "";

    /** The store under test; the same one for all tests, by {@link #clock} if it has one. */
    protected abstract StatementStore store();

    @BeforeEach
    void begin() {
        group = "group-" + GROUPS.incrementAndGet();
    }

    private void put(Statement... statements) {
        store().write(group, writing -> {
            for (Statement statement : statements) {
                writing.put(statement);
            }
            return statements;
        });
    }

    private <T> T read(Function<View, T> question) {
        return read(ReadFilter.NONE, question);
    }

    private <T> T read(ReadFilter readFilter, Function<View, T> question) {
        return store().read(group, readFilter, PATIENCE, question);
    }

    private static Statement says(String subject, String predicate, Object object) {
        return Statement.of(
                subject,
                predicate,
                switch (object) {
                    case Term term -> term;
                    case Integer number -> Literal.of(number);
                    case Boolean truth -> Literal.of(truth);
                    case BigDecimal number -> Literal.of(number);
                    default -> Literal.of(object.toString());
                });
    }

    private static Statement is(String subject, String type) {
        return says(subject, Term.TYPE, Resource.of(type));
    }

    private static List<Term> objects(StatementPage<Fact> page) {
        return page.items().stream().map(fact -> fact.statement().object()).toList();
    }

    private List<Term> said(String subject) {
        return read(view -> objects(view.statements(about(subject), null, 100)));
    }

    private static StatementPage<Fact> page(Map<String, StatementPage<Fact>> pages, String parent) {
        return pages.getOrDefault(parent, StatementPage.empty());
    }

    private static Pattern about(String... subjects) {
        return new Pattern(List.of(), List.of(subjects), List.of(), List.of(), List.of(), List.of(), null);
    }

    private static ReadFilter certain(double floor) {
        return new ReadFilter(floor, null, List.of(), true);
    }

    // ---- Terms

    @Test
    void kg13_termsComeBackAsTheyWere() {
        List<Term> terms = List.of(
                Resource.of("ex:p2"),
                Resource.of("plain"),
                Literal.of("text with \"quotes\" and ünïcode 🙂"),
                Literal.of("text", "en"),
                Literal.of("text", "de"),
                Literal.of(7),
                Literal.of(new BigDecimal("0.50")),
                Literal.of(true),
                new Literal("2026-01-05", Term.XSD + "date", null),
                new Literal("7", Term.XSD + "string", null),
                new Literal("POINT(1 2)", "http://www.opengis.net/ont/geosparql#wktLiteral", null),
                Literal.of("x".repeat(100_000)));

        terms.forEach(term -> put(says("ex:p1", "ex:says", term)));

        assertThat(said("ex:p1")).containsExactlyInAnyOrderElementsOf(terms);
    }

    @Test
    void aGroupSeesNothingOfAnother() {
        put(says("ex:p1", "ex:status", "active"));

        group = group + "-other";

        assertThat(said("ex:p1")).isEmpty();
    }

    @Test
    void kg12_theSameStatementInTwoGraphsIsTwo() {
        put(
                says("ex:p1", "ex:status", "active"),
                says("ex:p1", "ex:status", "active").in("ex:g"));

        List<Fact> facts =
                read(view -> view.statements(about("ex:p1"), null, 10).items());

        assertThat(facts).extracting(fact -> fact.statement().graph()).containsExactlyInAnyOrder(null, "ex:g");
        assertThat(read(View::graphs))
                .containsExactlyInAnyOrder(new View.GraphInfo(null, 1), new View.GraphInfo("ex:g", 1));
    }

    // ---- Writing

    @Test
    void puttingAgainReplacesWhatIsRemarked() {
        put(says("ex:p1", "ex:status", "active").withCertainty(0.4));
        put(says("ex:p1", "ex:status", "active").withCertainty(0.9).withProvenance(Map.of("sourceAgentId", "b")));

        List<Fact> facts =
                read(view -> view.statements(about("ex:p1"), null, 10).items());

        assertThat(facts).hasSize(1);
        assertThat(facts.getFirst().statement().certainty()).isEqualTo(0.9);
        assertThat(facts.getFirst().statement().provenance()).containsEntry("sourceAgentId", "b");
    }

    @Test
    void whatIsRemovedIsGone() {
        put(says("ex:p1", "ex:status", "active"), says("ex:p1", "ex:name", "one"));

        store().write(group, writing -> {
            writing.remove(says("ex:p1", "ex:status", "active"));
            writing.remove(says("ex:p1", "ex:status", "never there"));
            return 0;
        });

        assertThat(said("ex:p1")).containsExactly(Literal.of("one"));
    }

    @Test
    void kg08_aChangeThatThrowsHasChangedNothing() {
        put(says("ex:p1", "ex:status", "active"));

        assertThatThrownBy(() -> store().write(group, writing -> {
                    writing.remove(says("ex:p1", "ex:status", "active"));
                    writing.put(says("ex:p1", "ex:status", "something new"));
                    throw new IllegalStateException("no");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no");
        put(says("ex:p2", "ex:status", "something new"));

        assertThat(said("ex:p1")).containsExactly(Literal.of("active"));
        assertThat(said("ex:p2")).containsExactly(Literal.of("something new"));
        assertThat(read(View::graphs)).containsExactly(new View.GraphInfo(null, 2));
    }

    @Test
    void aChangeSeesWhatItHasDoneItself() {
        List<Term> seen = store().write(group, writing -> {
            writing.put(says("ex:new", "ex:status", "brand new"));
            assertThat(writing.find(says("ex:new", "ex:status", "brand new"))).hasSize(1);
            assertThat(writing.find(says("ex:new", "ex:status", "old"))).isEmpty();
            return objects(writing.statements(about("ex:new"), null, 10));
        });

        assertThat(seen).containsExactly(Literal.of("brand new"));
    }

    @Test
    void typesThatAreOnlyMentionedAreKnownAndNotFound() {
        var typed = new Statement(
                new Resource("ex:p1", "ex:Project"),
                "ex:lead",
                new Resource("ex:ann", "ex:Person"),
                null,
                0.8,
                Map.of());

        put(typed);

        assertThat(this.<Map<String, Set<String>>>read(view -> view.types(List.of("ex:p1", "ex:ann", "ex:nobody"))))
                .containsEntry("ex:p1", Set.of("ex:Project"))
                .containsEntry("ex:ann", Set.of("ex:Person"));
        assertThat(store().<List<Fact>>write(group, writing -> writing.find(is("ex:p1", "ex:Project"))))
                .isEmpty();
    }

    // ---- Floors

    @Test
    void kg03_whatIsLessCertainIsHiddenAndCounted() {
        put(
                says("ex:p1", "ex:status", "sure").withCertainty(0.9),
                says("ex:p1", "ex:status", "unsure").withCertainty(0.4),
                says("ex:p1", "ex:status", "unknown"));

        read(certain(0.8), view -> {
            assertThat(objects(view.statements(about("ex:p1"), null, 10))).containsExactly(Literal.of("sure"));
            assertThat(view.hidden().byCertainty()).isEqualTo(2);
            return view;
        });
    }

    @Test
    void kg04_whatWasConfirmedTooLongAgoIsHidden() {
        put(says("ex:p1", "ex:status", "old"));
        clock.now = clock.now.plusSeconds(3);
        put(says("ex:p1", "ex:status", "new"));

        read(new ReadFilter(null, clock.now.minusSeconds(1), List.of(), true), view -> {
            assertThat(objects(view.statements(about("ex:p1"), null, 10))).containsExactly(Literal.of("new"));
            assertThat(view.hidden().byAge()).isEqualTo(1);
            return view;
        });
        read(new ReadFilter(null, clock.now.minusSeconds(60), List.of(), true), view -> {
            assertThat(view.statements(about("ex:p1"), null, 10).items()).hasSize(2);
            return view;
        });
    }

    @Test
    void floorsHoldWhereverStatementsAreUsed() {
        put(
                is("ex:p1", "ex:Project").withCertainty(0.9),
                says("ex:p1", "ex:budget", 5).withCertainty(0.1),
                says("ex:p1", "ex:lead", Resource.of("ex:ann")).withCertainty(0.1));
        var budget = new Condition(List.of("ex:budget"), Comparison.EXISTS, List.of(), true);
        var lead = new EntityFilter(List.of(), null, List.of(budget), null, false);

        read(certain(0.5), view -> {
            assertThat(view.entities(lead, null, 10).items()).isEmpty();
            assertThat(view.pointingAt(List.of("ex:ann"), Pattern.ALL, null, 10))
                    .isEmpty();
            assertThat(view.predicates("ex:Project")).containsExactly(Term.TYPE);
            assertThat(view.statements(Pattern.ALL, null, 10).items())
                    .extracting(fact -> fact.statement().predicate())
                    .containsOnly(Term.TYPE);
            return view;
        });
        assertThat(this.<List<String>>read(view -> view.entities(lead, null, 10).items()))
                .containsExactly("ex:p1");
    }

    @Test
    void kg19_theFirstRuleThatFitsDecidesWhatIsSeen() {
        put(
                says("ex:p1", "ex:status", "open"),
                says("ex:p1", "ex:salary", 7).in("ex:secret"),
                says("ex:p1", "ex:name", "one").in("ex:secret"));
        var name = new ReadFilter.Rule(Pattern.predicates(List.of("ex:name")), null, true);
        var secret = new ReadFilter.Rule(Pattern.ALL.in(List.of("ex:secret")), null, false);

        read(new ReadFilter(null, null, List.of(name, secret), true), view -> {
            assertThat(objects(view.statements(about("ex:p1"), null, 10)))
                    .containsExactlyInAnyOrder(Literal.of("open"), Literal.of("one"));
            assertThat(view.graphs())
                    .containsExactlyInAnyOrder(new View.GraphInfo(null, 1), new View.GraphInfo("ex:secret", 1));
            assertThat(view.hidden()).isEqualTo(new View.Hidden(0, 0, 0));
            return view;
        });
        read(new ReadFilter(null, null, List.of(name), false), view -> {
            assertThat(objects(view.statements(about("ex:p1"), null, 10))).containsExactly(Literal.of("one"));
            assertThat(view.graphs()).containsExactly(new View.GraphInfo("ex:secret", 1));
            assertThat(view.predicates(null)).containsExactly("ex:name");
            return view;
        });
    }

    // ---- Reading

    @Test
    void pagesFollowEachOtherWithoutGapOrRepetition() {
        put(IntStream.range(0, 25).mapToObj(i -> says("ex:p1", "ex:n", i)).toArray(Statement[]::new));

        var found = new ArrayList<Term>();
        read(view -> {
            String after = null;
            do {
                StatementPage<Fact> page = view.statements(about("ex:p1"), after, 10);
                found.addAll(objects(page));
                after = page.next();
            } while (after != null);
            return found;
        });

        assertThat(found).hasSize(25).doesNotHaveDuplicates();
    }

    @Test
    void aCursorOfAnotherQueryIsRefused() {
        put(says("ex:p1", "ex:n", 1), says("ex:p1", "ex:n", 2), says("ex:p2", "ex:n", 3));

        String after = read(
                view -> requireNonNull(view.statements(about("ex:p1"), null, 1).next()));

        assertThatThrownBy(() -> read(view -> view.statements(about("ex:p2"), after, 1)))
                .isInstanceOf(InvalidField.class)
                .hasMessageContaining("after");
        assertThatThrownBy(() -> read(view -> view.statements(about("ex:p1"), "1.2.3.4", 1)))
                .isInstanceOf(InvalidField.class);
    }

    @Test
    void manyParentsAreReadInOneGo() {
        put(IntStream.range(0, 50)
                .mapToObj(i -> says("ex:p" + i % 10, "ex:n", i))
                .toArray(Statement[]::new));

        Map<String, StatementPage<Fact>> pages =
                read(view -> view.about(List.of("ex:p1", "ex:p2", "ex:none"), Pattern.ALL, null, 3));

        assertThat(pages).containsOnlyKeys("ex:p1", "ex:p2");
        assertThat(page(pages, "ex:p1").items()).hasSize(3);
        assertThat(page(pages, "ex:p1").next()).isNotNull();
        assertThat(this.<Map<String, StatementPage<Fact>>>read(view -> view.about(
                        List.of("ex:p1"), Pattern.ALL, page(pages, "ex:p1").next(), 3)))
                .hasEntrySatisfying("ex:p1", page -> assertThat(page.items()).hasSize(2));
    }

    @Test
    void aParentWithVeryManyChildrenDoesNotHideTheNext() {
        for (int begin = 0; begin < 2_500; begin += 250) { // one change of all takes longer than a busy database has
            put(IntStream.range(begin, begin + 250)
                    .mapToObj(i -> says("ex:big", "ex:n", i))
                    .toArray(Statement[]::new));
        }
        put(says("ex:small", "ex:n", 1));

        Map<String, StatementPage<Fact>> pages =
                read(view -> view.about(List.of("ex:big", "ex:small"), Pattern.ALL, null, 5));

        assertThat(page(pages, "ex:big").items()).hasSize(5);
        assertThat(page(pages, "ex:small").items()).hasSize(1);
    }

    @Test
    void incomingStatementsAreFoundByTheirObject() {
        put(says("ex:p1", "ex:lead", Resource.of("ex:ann")), says("ex:p2", "ex:member", Resource.of("ex:ann")));

        Map<String, StatementPage<Fact>> all = read(view -> view.pointingAt(List.of("ex:ann"), Pattern.ALL, null, 10));
        Map<String, StatementPage<Fact>> leads =
                read(view -> view.pointingAt(List.of("ex:ann"), Pattern.predicates(List.of("ex:lead")), null, 10));

        assertThat(page(all, "ex:ann").items()).hasSize(2);
        assertThat(page(leads, "ex:ann").items())
                .extracting(fact -> fact.statement().subject().id())
                .containsExactly("ex:p1");
    }

    @Test
    void entitiesAreFoundByTypeTextAndConditions() {
        put(
                is("ex:p1", "ex:Project"),
                says("ex:p1", "ex:budget", 50),
                says("ex:p1", "ex:name", "Alpha bridge"),
                is("ex:p2", "ex:Project"),
                says("ex:p2", "ex:budget", new BigDecimal("7.5")),
                says("ex:p2", "ex:name", "Beta 100%"),
                is("ex:ann", "ex:Person"));

        assertThat(entities(List.of("ex:Project"), null)).containsExactly("ex:p1", "ex:p2");
        assertThat(entities(List.of(), "BRIDGE")).containsExactly("ex:p1");
        assertThat(entities(List.of(), "100%")).containsExactly("ex:p2");
        assertThat(entities(List.of(), "1_0")).isEmpty();
        assertThat(entities(List.of("ex:Project"), null, budget(Comparison.LESS, 10)))
                .containsExactly("ex:p2");
        assertThat(entities(List.of("ex:Project"), null, budget(Comparison.AT_LEAST, 50)))
                .containsExactly("ex:p1");
        assertThat(entities(List.of(), null, budget(Comparison.EQUAL, new BigDecimal("7.50"))))
                .containsExactly("ex:p2");
        assertThat(entities(
                        List.of("ex:Project"),
                        null,
                        new Condition(List.of("ex:name"), Comparison.CONTAINS, List.of(Literal.of("alpha")), false)))
                .containsExactly("ex:p2");
        assertThat(read(View::classes)).containsExactlyInAnyOrder("ex:Project", "ex:Person");
        assertThat(this.<Set<String>>read(view -> view.predicates("ex:Project")))
                .containsExactlyInAnyOrder(Term.TYPE, "ex:budget", "ex:name");
        assertThat(this.<Set<String>>read(view -> view.predicates(null)))
                .containsExactlyInAnyOrder(Term.TYPE, "ex:budget", "ex:name");
    }

    private static Condition budget(Comparison comparison, Object value) {
        return new Condition(
                List.of("ex:budget"), comparison, List.of(says("x", "x", value).object()), true);
    }

    private List<String> entities(List<String> types, @Nullable String text, Condition... conditions) {
        return read(view -> view.entities(new EntityFilter(types, text, List.of(conditions), null, false), null, 10)
                .items());
    }

    @Test
    void entitiesAreSortedByAValueAndPaged() {
        for (int i = 0; i < 7; i++) {
            put(is("ex:p" + i, "ex:Project"), says("ex:p" + i, "ex:rank", (i * 3) % 7));
        }
        put(is("ex:last", "ex:Project"));
        var up = new EntityFilter(List.of("ex:Project"), null, List.of(), "ex:rank", false);
        var down = new EntityFilter(List.of("ex:Project"), null, List.of(), "ex:rank", true);

        StatementPage<String> first = read(view -> view.entities(up, null, 5));
        StatementPage<String> second = read(view -> view.entities(up, first.next(), 5));

        assertThat(first.items()).containsExactly("ex:p0", "ex:p5", "ex:p3", "ex:p1", "ex:p6");
        assertThat(second.items()).containsExactly("ex:p4", "ex:p2", "ex:last");
        assertThat(second.next()).isNull();
        assertThat(read(view -> view.entities(down, null, 2)).items()).containsExactly("ex:p2", "ex:p4");
    }

    @Test
    void pagesGiveEverythingThatFits() {
        put(IntStream.range(0, 300)
                .mapToObj(i -> says("ex:p" + i, "ex:n", i % 3))
                .toArray(Statement[]::new));
        put(says("ex:p1", "ex:n", 1).in("ex:g"));

        assertThat(everything(fitting(List.of(), List.of(), List.of(Literal.of(1)))))
                .hasSize(101);
        assertThat(everything(fitting(List.of(Pattern.DEFAULT_GRAPH), List.of(), List.of())))
                .hasSize(300);
        assertThat(everything(fitting(List.of("ex:g"), List.of(), List.of()))).hasSize(1);
        assertThat(everything(fitting(List.of(), List.of("ex:p1"), List.of()))).hasSize(2);
        assertThat(everything(fitting(List.of(), List.of("ex:never"), List.of())))
                .isEmpty();
    }

    private static Pattern fitting(List<String> graphs, List<String> subjects, List<Term> objects) {
        return new Pattern(graphs, subjects, List.of(), List.of(), objects, List.of(), null);
    }

    private List<Fact> everything(Pattern pattern) {
        return read(view -> {
            var found = new ArrayList<Fact>();
            String after = null;
            do {
                StatementPage<Fact> page = view.statements(pattern, after, 64);
                found.addAll(page.items());
                after = page.next();
            } while (after != null);
            assertThat(found).doesNotHaveDuplicates();
            return found;
        });
    }

    @Test
    void patternsAreAllOfTheirFieldsAndAnyOfTheirElements() {
        put(
                is("ex:p1", "ex:Project"),
                says("ex:p1", "ex:status", "active")
                        .withCertainty(0.9)
                        .withProvenance(Map.of("sourceAgentId", "reporter")),
                says("ex:p2", "ex:status", "active").withCertainty(0.5));
        var all = List.of("ex:status", "ex:other");

        assertThat(matches(new Pattern(List.of(), List.of(), List.of("ex:Project"), all, List.of(), List.of(), null)))
                .isEqualTo(1);
        assertThat(matches(new Pattern(
                        List.of(Pattern.DEFAULT_GRAPH),
                        List.of(),
                        List.of(),
                        all,
                        List.of(Literal.of("active")),
                        List.of(),
                        null)))
                .isEqualTo(2);
        assertThat(matches(new Pattern(List.of(), List.of(), List.of(), all, List.of(), List.of("reporter"), null)))
                .isEqualTo(1);
        assertThat(matches(new Pattern(List.of(), List.of(), List.of(), all, List.of(), List.of(), 0.8)))
                .isEqualTo(1);
        assertThat(matches(new Pattern(List.of("ex:none"), List.of(), List.of(), all, List.of(), List.of(), null)))
                .isZero();
    }

    private int matches(Pattern pattern) {
        return read(view -> view.statements(pattern, null, 10).items().size());
    }
}
