package dev.parley.registry.search;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Health;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.SearchOperation.Bucket;
import dev.parley.registry.SearchOperation.Facet;
import dev.parley.registry.SearchOperation.Facets;
import dev.parley.registry.SearchOperation.FoundEntry;
import dev.parley.registry.SearchOperation.FoundPage;
import dev.parley.registry.SearchQuery;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.PersonalEntries;
import dev.parley.store.database.Database;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Search in the entries of a registry, the same on each database system. */
@Timeout(120)
abstract class SearchContract {
    private static final CallContext ANNA = CallContext.of("anna", new CallContext.Scope("blue", "anna"));
    private static final CallContext BEN = CallContext.of("ben", new CallContext.Scope("blue", "ben"));
    private static final CallContext EVE = CallContext.of("eve", new CallContext.Scope("red", "eve"));

    private Database database;
    private Entries entries;
    private Search search;

    abstract Database open() throws Exception;

    @BeforeEach
    void begin() throws Exception {
        database = open();
        reopen();
    }

    private void reopen() {
        entries = opened();
        search = new Search(database, entries, null);
    }

    @AfterEach
    void end() {
        search.close();
        database.close();
    }

    /** Registers an agent; each skill is {@code id|description|tags|examples}. */
    private Entry register(String name, String description, Visibility visibility, String... skills) {
        var list = new ArrayList<String>();
        for (String skill : skills) {
            String[] parts = skill.split("\\|", -1);
            list.add("{\"id\":\"%s\",\"name\":\"%s\",\"description\":\"%s\",\"tags\":[%s],\"examples\":[%s]}"
                    .formatted(parts[0], parts[0].replace('-', ' '), parts[1], quoted(parts[2]), quoted(parts[3])));
        }
        String card = """
            {"name":"%s","description":"%s","version":"1.0.0","provider":{"organization":"Acme","url":"https://acme.example"},
             "supportedInterfaces":[{"url":"https://a.example/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
             "capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[%s]}\
            """.formatted(name, description, String.join(",", list));
        return entries.publisher()
                .publish(
                        new Publication(
                                null,
                                Entry.AGENT_CARD,
                                card.getBytes(StandardCharsets.UTF_8),
                                null,
                                null,
                                visibility,
                                null,
                                List.of(),
                                Map.of()),
                        ANNA);
    }

    private Entry register(String name, String... skills) {
        return register(name, "An agent", Visibility.PUBLIC, skills);
    }

    private static String quoted(String list) {
        return list.isEmpty() ? "" : "\"" + list.replace(",", "\",\"") + "\"";
    }

    private List<String> names(String words) {
        return names(SearchQuery.of(words), ANNA);
    }

    private List<String> names(SearchQuery query, CallContext viewer) {
        return search.search(query, 50, null, viewer).results().stream()
                .map(found -> found.agent().resource().name())
                .toList();
    }

    private static EntryFilter tagged(String... tags) {
        return new EntryFilter(List.of(), List.of(tags), Map.of(), false);
    }

    @Test
    @DisplayName("ONE39 a need in free words ranks agents with the reasons, without a model")
    void reasons() {
        register(
                "Lexi",
                "translate-legal|Translates legal texts such as contracts|law,translation|Put this lease into French",
                "ocr|Reads scans||");
        register("Polyglot", "translate|Translates texts|translation|Say hello in Swahili");
        register("Baker", "bake|Bakes bread|food|");

        FoundPage results = search.search(SearchQuery.of("Who can translate legal texts?"), 10, null, ANNA);

        assertThat(results.results())
                .extracting(found -> found.agent().resource().name())
                .containsExactly("Lexi", "Polyglot");
        FoundEntry best = results.results().getFirst();
        assertThat(best.why().skill()).isEqualTo("translate-legal");
        assertThat(best.why().fields())
                .isEqualTo(Map.of(
                        "skills", List.of("translate", "legal"),
                        "tags", List.of("translate"),
                        "description", List.of("translate", "legal", "texts")));
        assertThat(results.results().get(1).why().missing()).containsExactly("legal");
        assertThat(results.results()).extracting(FoundEntry::score).isSortedAccordingTo((one, other) -> other - one);
        assertThat(best.score()).isBetween(51, 100);
    }

    @Test
    @DisplayName("no agent is found for a need that none has")
    void nothing() {
        register("Lexi", "translate-legal|Translates contracts and verdicts|law,translation|");
        register("Baker", "bake|Bakes bread|food|");

        assertThat(names("repair the gearbox of a tractor")).isEmpty();
        assertThat(names("?!")).isEmpty();
    }

    @Test
    @DisplayName("the index follows versions and deletions in their transactions")
    void follows() {
        Entry entry = register("Lexi", "translate|Translates contracts|law|");
        assertThat(names("contracts")).containsExactly("Lexi");

        register("Lexi", "summarise|Summarises novels|books|");
        assertThat(names("contracts")).isEmpty();
        assertThat(names("novels")).containsExactly("Lexi");

        entries.writer()
                .change(
                        entry.id(),
                        EntryChange.Kind.DELETED,
                        Map.of(),
                        ANNA,
                        now -> with(now, now.health(), Entry.Status.DELETED));
        assertThat(names("novels")).isEmpty();
    }

    private static Entry with(Entry entry, Health health, Entry.Status status) {
        Entry.State state = entry.state();
        return new Entry(
                entry.id(),
                entry.resource(),
                entry.ownership(),
                entry.trust(),
                health,
                new Entry.State(
                        status,
                        state.revision(),
                        state.change(),
                        state.created(),
                        state.updated(),
                        state.leaseUntil()));
    }

    @Test
    @DisplayName("entries that a caller may not see are in no result, count or facet")
    void visibility() {
        register("Open", "An agent", Visibility.PUBLIC, "forge|Forges swords|iron|");
        register("Ours", "An agent", Visibility.GROUP, "forge|Forges swords|steel|");
        register("Mine", "An agent", Visibility.PRIVATE, "forge|Forges swords|bronze|");

        assertThat(names("swords")).containsExactlyInAnyOrder("Open", "Ours", "Mine");
        assertThat(names(SearchQuery.of("swords"), BEN)).containsExactlyInAnyOrder("Open", "Ours");
        assertThat(names(SearchQuery.of("swords"), EVE)).containsExactly("Open");
        assertThat(names(SearchQuery.of("swords"), CallContext.anonymous())).containsExactly("Open");
        assertThat(names(SearchQuery.of(""), EVE)).containsExactly("Open");
        Facets facets = search.facets(SearchQuery.of("swords"), List.of("tag"), 10, BEN);
        assertThat(facets.total()).isEqualTo(2);
        assertThat(counts(facets, "tag")).isEqualTo(Map.of("iron", 1L, "steel", 1L));
    }

    @Test
    @DisplayName("ONE34 filters apply before limits, all tags are needed, and facets count all results of the query")
    void filters() {
        for (int i = 0; i < 120; i++) {
            register(
                    "Smith " + i,
                    "forge-" + i + "|Forges swords of iron|" + (i % 40 == 0 ? "rare,iron" : "iron") + "|");
        }

        var rare = new SearchQuery("swords", false, tagged("iron", "rare"));

        assertThat(names(rare, ANNA)).containsExactlyInAnyOrder("Smith 0", "Smith 40", "Smith 80");
        assertThat(search.facets(rare, List.of("tag"), 10, ANNA).total()).isEqualTo(3);
        Facets all = search.facets(SearchQuery.of("swords"), List.of("tag", "provider", "binding"), 1, ANNA);
        assertThat(all.total()).isEqualTo(120);
        assertThat(all.facets().get("tag")).isEqualTo(new Facet(List.of(new Bucket("iron", 120)), 1));
        assertThat(counts(all, "provider")).isEqualTo(Map.of("Acme", 120L));
        assertThat(names(
                        new SearchQuery(
                                "swords",
                                false,
                                new EntryFilter(
                                        List.of("forge-7"),
                                        List.of(),
                                        Map.of("binding", List.of("JSONRPC", "GRPC")),
                                        false)),
                        ANNA))
                .containsExactly("Smith 7");
    }

    @Test
    @DisplayName("pages hold each result once, in one order")
    void pages() {
        for (int i = 0; i < 90; i++) {
            register(
                    "Smith " + i,
                    "forge|Forges " + "swords ".repeat(1 + i % 7) + "and shields|iron|",
                    "mend|Mends armour||");
        }
        for (int i = 0; i < 30; i++) {
            register("Knight " + i, "fight|Fights with swords||");
        }
        var query = SearchQuery.of("swords shields");
        var paged = new ArrayList<String>();
        var scores = new ArrayList<Integer>();
        String token = null;
        do {
            FoundPage page = search.search(query, 7, token, EVE);
            page.results().forEach(found -> {
                paged.add(found.agent().id());
                scores.add(found.score());
            });
            token = page.next();
        } while (token != null);

        assertThat(paged).hasSize(120).doesNotHaveDuplicates();
        assertThat(scores).isSortedAccordingTo((one, other) -> other - one);
        assertThat(search.search(query, 100, null, EVE).results())
                .extracting(found -> found.agent().id())
                .isEqualTo(paged.subList(0, 100));
        assertThatThrownBy(() -> search.search(query, 7, "nonsense", EVE)).isInstanceOf(A2AException.class);
        String next = search.search(query, 7, null, EVE).next();
        assertThatThrownBy(() -> search.search(SearchQuery.of("swords"), 7, next, EVE))
                .hasMessageContaining("unknown (expected: the token of a page of the same query)");
    }

    @Test
    @DisplayName("the token of a page serves only the caller that received it")
    void tokensOfOthers() {
        for (int i = 0; i < 3; i++) {
            register("Smith " + i, "forge|Forges swords|iron|");
        }
        var query = SearchQuery.of("swords");

        String found = search.search(query, 1, null, ANNA).next();
        String listed = entries.reader()
                .list(EntryFilter.NONE, Order.NAME, 1, null, ANNA)
                .next();

        for (CallContext other : List.of(BEN, EVE)) {
            assertThatThrownBy(() -> search.search(query, 1, found, other))
                    .hasMessageContaining("unknown (expected: the token of a page of the same query)");
            assertThatThrownBy(() -> entries.reader().list(EntryFilter.NONE, Order.NAME, 1, listed, other))
                    .hasMessageContaining("unknown (expected: a token of the page before)");
        }
        assertThat(search.search(query, 1, found, ANNA).results()).hasSize(1);
        assertThat(entries.reader()
                        .list(EntryFilter.NONE, Order.NAME, 1, listed, ANNA)
                        .entries())
                .hasSize(1);
    }

    @Test
    @DisplayName("results come as the last word is typed")
    void typing() {
        register("Lexi", "translate-contracts|Translates|law|");
        register("Baker", "bake|Bakes bread|food|");

        for (String typed : List.of("tr", "trans", "translat", "translate cont", "LEX")) {
            assertThat(names(new SearchQuery(typed, true, EntryFilter.NONE), ANNA))
                    .as(typed)
                    .containsExactly("Lexi");
        }
        assertThat(names("trans")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"",
                "'",
                "\"\"\" OR",
                "NEAR(swords shields, 5)",
                "swords*",
                "name:swords",
                "-swords",
                "swords AND",
                "NOT swords",
                "(((",
                "^swords",
                "swords & | !",
                "swords:*",
                "{name skills}: swords",
                "\\",
                "a\u0000b swords",
                "\uD800 swords",
                "%_",
                "'); DROP TABLE registry_entry; --"
            })
    @DisplayName("operators of the database are words of users like others")
    void operators(String words) {
        register("Smith", "forge|Forges swords and shields|iron|");

        for (boolean isTyping : new boolean[] {false, true}) {
            var query = new SearchQuery(words, isTyping, tagged("iron"));
            assertThat(names(query, ANNA)).isSubsetOf("Smith");
            assertThat(search.facets(query, List.of("tag", "metadata.'%"), 10, ANNA)
                            .total())
                    .isLessThanOrEqualTo(1);
        }
        assertThat(names("forges \" swords")).containsExactly("Smith");
    }

    @Test
    @DisplayName("texts in other scripts are found, also those without spaces")
    void scripts() {
        register("Yakusha", "翻訳|契約書を日本語に翻訳します|法律|");
        register("Perevodchik", "perevod|Переводит договоры на русский язык|право|");
        register("Übersetzer", "uebersetzen|Übersetzt Verträge für Anwälte|Recht|");

        assertThat(names("契約書の翻訳")).containsExactly("Yakusha");
        assertThat(names("ДОГОВОРЫ")).containsExactly("Perevodchik");
        assertThat(names("Vertrage fur anwalte")).containsExactly("Übersetzer");
        assertThat(names(new SearchQuery("прав", true, EntryFilter.NONE), ANNA)).containsExactly("Perevodchik");
    }

    @Test
    @DisplayName("a long query is answered, a longer one is refused")
    void length() {
        register("Smith", "forge|Forges swords and shields|iron|");

        assertThat(names(
                        "My grandfather's farm in the valley has many old things, and since the last winter I need a person or program that"
                                + " forges swords and shields from iron"))
                .containsExactly("Smith");
        assertThat(names("x ".repeat(4_990))).isEmpty();
        assertThatThrownBy(() -> names("x".repeat(10_001)))
                .isInstanceOf(A2AException.class)
                .hasMessageContaining("10001");
    }

    @Test
    @DisplayName("ONE38 of equal agents the one that is up ranks first, and the reason is shown")
    void health() {
        Entry first = register("Smith A", "forge|Forges swords|iron|");
        register("Smith B", "forge|Forges swords|iron|");
        assertThat(names("forge swords")).containsExactly("Smith A", "Smith B");

        entries.writer()
                .change(
                        first.id(),
                        EntryChange.Kind.HEALTH,
                        Map.of(),
                        null,
                        now -> with(
                                now,
                                new Health(Entry.HealthStatus.DOWN, Entry.Cause.CONNECT, "refused", null, -1),
                                Entry.Status.ACTIVE));

        FoundPage results = search.search(SearchQuery.of("forge swords"), 10, null, ANNA);
        assertThat(results.results())
                .extracting(found -> found.agent().resource().name())
                .containsExactly("Smith B", "Smith A");
        assertThat(results.results().get(1).why().factors()).containsEntry("health down", 0.8);
    }

    @Test
    @DisplayName("words that a hub has in memory follow the writes of another hub on the database")
    void followsOtherHubs() {
        Entry lexi = register("Lexi", "translate|Translates contracts|law|");
        try (var other = new Search(database, opened(), null)) {
            assertThat(names(other, "contracts")).containsExactly("Lexi");

            for (int i = 0; i < 400; i++) {
                register("Clerk " + i, "file|Files " + (i % 50 == 7 ? "contracts" : "letters") + "|office|");
            }
            assertThat(names(other, "contracts"))
                    .hasSize(9)
                    .contains("Clerk 7", "Clerk 357")
                    .isEqualTo(names("contracts"));

            for (int i = 0; i < 400; i += 80) { // more ranges than are read one by one
                register("Clerk " + i, "file|Files contracts|office|");
            }
            register("Lexi", "summarise|Summarises novels|books|");
            assertThat(names(other, "contracts"))
                    .hasSize(13)
                    .contains("Clerk 320")
                    .doesNotContain("Lexi")
                    .isEqualTo(names("contracts"));
            assertThat(names(other, "novels")).containsExactly("Lexi");

            entries.writer()
                    .change(
                            lexi.id(),
                            EntryChange.Kind.DELETED,
                            Map.of(),
                            ANNA,
                            now -> with(now, now.health(), Entry.Status.DELETED));
            assertThat(names(other, "novels")).isEmpty();
        }
    }

    @Test
    @DisplayName("ONE34 facets that a hub has in memory follow the writes and erasures of another hub on the database")
    void facetsFollowOtherHubs() {
        Entry lexi = register("Lexi", "translate|Translates contracts|law|");
        register("Open", "An agent", Visibility.PRIVATE, "forge|Forges contracts|iron|");
        try (var other = new Search(database, opened(), null)) {
            assertThat(tags(other, "", ANNA)).isEqualTo(Map.of("law", 1L, "iron", 1L));
            assertThat(tags(other, "", EVE)).isEqualTo(Map.of("law", 1L));

            register("Smith", "forge|Forges contracts|iron,law|");
            register("Lexi", "translate|Translates contracts|books|");
            assertThat(tags(other, "contracts", ANNA)).isEqualTo(Map.of("law", 1L, "iron", 2L, "books", 1L));
            assertThat(tags(other, "", EVE)).isEqualTo(Map.of("law", 1L, "iron", 1L, "books", 1L));

            entries.writer()
                    .change(
                            lexi.id(),
                            EntryChange.Kind.DELETED,
                            Map.of(),
                            ANNA,
                            now -> with(now, now.health(), Entry.Status.DELETED));
            assertThat(tags(other, "contracts", EVE)).isEqualTo(Map.of("law", 1L, "iron", 1L));

            new PersonalEntries(database, entries.writer()).erase("blue", "anna");
            assertThat(tags(other, "", ANNA)).isEmpty();
            register("Baker", "bake|Bakes bread|food|");
            assertThat(tags(other, "", ANNA)).isEqualTo(Map.of("food", 1L));
            for (int i = 0; i < 600; i++) { // more changes than are read one by one
                register("Clerk " + i, "file|Files letters|" + (i % 3 == 0 ? "office" : "post") + "|");
            }
            assertThat(tags(other, "", EVE)).isEqualTo(Map.of("food", 1L, "post", 400L, "office", 200L));

            other.warm();
            List<String> clerks = names("files letters");
            database.write(session -> {
                session.once("DROP TABLE registry_search"); // as words of most agents are in memory
                return 0;
            });
            assertThat(names(other, "files letters")).hasSize(50).isEqualTo(clerks);
        }
    }

    private static Map<String, Long> tags(Search search, String words, CallContext viewer) {
        Facets facets = search.facets(SearchQuery.of(words), List.of("tag"), 10, viewer);
        return counts(facets, "tag");
    }

    private static Map<String, Long> counts(Facets facets, String field) {
        return requireNonNull(facets.facets().get(field)).buckets().stream()
                .collect(Collectors.toMap(Bucket::value, Bucket::count));
    }

    private Entries opened() {
        return Entries.open(
                database,
                "agent.localhost",
                List.of(),
                (caller, agent) -> true,
                new NoParts(),
                new NoParts(),
                InstantSource.system());
    }

    private static List<String> names(Search search, String words) {
        return search.find(SearchQuery.of(words), 50, null, ANNA).results().stream()
                .map(found -> found.agent().resource().name())
                .toList();
    }

    @Test
    @DisplayName(
            "a search that takes longer than two seconds is ended in the database, and its thread and connection serve others")
    void timeout() throws Exception {
        register("Smith", "forge|Forges swords|iron|");
        database.write(session -> {
            session.once("ALTER TABLE registry_label RENAME TO registry_label_kept");
            session.once(
                    "CREATE VIEW registry_label AS WITH RECURSIVE endless (entry) AS"
                            + " (SELECT 0 UNION ALL SELECT 1 - entry FROM endless) SELECT 'tag=iron' AS label, entry + 1000 AS entry FROM endless");
            return 0;
        });
        var query = new SearchQuery("swords", false, tagged("iron"));
        var refused = new ArrayList<Future<Throwable>>();
        long began = System.nanoTime();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (CallContext caller : List.of(ANNA, BEN, EVE, EVE)) {
                refused.add(threads.submit(() -> catchThrowable(() -> names(query, caller))));
            }
        }
        var took = Duration.ofNanos(System.nanoTime() - began);

        var problems = new ArrayList<String>();
        for (Future<Throwable> each : refused) {
            assertThat(each.get())
                    .isInstanceOfSatisfying(
                            A2AException.class, late -> assertThat(late.error()).isEqualTo(A2AError.UNAVAILABLE));
            problems.add(each.get().getMessage());
        }
        // The others of them were still waiting for a processor.
        assertThat(problems).contains("The search took longer than 2 s");
        assertThat(took).isBetween(Search.PATIENCE, Search.PATIENCE.multipliedBy(4));
        // As many at a time as the search has connections: one that was still busy would have a search wait for it.
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var found = new ArrayList<Future<List<String>>>();
            for (int i = 0; i < 16; i++) {
                found.add(threads.submit(() -> names(SearchQuery.of("swords"), EVE)));
            }
            for (Future<List<String>> each : found) {
                assertThat(each.get()).containsExactly("Smith");
            }
        }
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(took.plus(Search.PATIENCE));
    }

    @Test
    @DisplayName("entries that are older than the index are indexed at the start")
    void rebuild() {
        register("Lexi", "translate|Translates contracts|law|");
        search.close();
        database.write(session -> session.update("DELETE FROM registry_search_entry"));
        database.write(session -> {
            session.once("DROP TABLE registry_search");
            session.once("DROP TABLE registry_search_entry");
            session.once("DROP TABLE registry_search_version");
            session.once("DROP INDEX registry_label_by_entry");
            return session.update("DELETE FROM module_version WHERE module = 'registry-search'");
        });

        reopen();

        assertThat(names("contracts")).containsExactly("Lexi");
    }
}
