package dev.parley.registry.search;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.registry.Cards;
import dev.parley.registry.Embedder;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.SearchOperation.Bucket;
import dev.parley.registry.SearchQuery;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.PersonalEntries;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Searches of two hubs that work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedSearchTest {
    private static final CallContext ANNA = CallContext.of("anna", new Scope("blue", "anna"));
    private static final CallContext BEN = CallContext.of("ben", new Scope("red", "ben"));

    /** A model that knows one meaning, of two words. */
    private static final Embedder MODEL = new Embedder() {
        @Override
        public String model() {
            return "model";
        }

        @Override
        public float[] embed(String text) {
            String words = text.toLowerCase(Locale.ROOT);
            return words.contains("holiday") || words.contains("vacation") ? new float[] {1, 0} : new float[] {0, 0};
        }
    };

    private final SharedSchema schema = new SharedSchema();
    private final List<Hub> hubs = new ArrayList<>();
    private Hub one;
    private Hub other;

    private record Hub(Database database, Entries entries, Search search) {
        Entry publish(@Nullable String id, String name, String... skills) {
            return entries.publish(
                    new Publication(
                            id,
                            Entry.AGENT_CARD,
                            Cards.v1(name, skills).getBytes(UTF_8),
                            null,
                            null,
                            Visibility.PUBLIC,
                            null,
                            List.of(),
                            Map.of()),
                    ANNA);
        }

        List<String> names(String words) {
            return search.find(SearchQuery.of(words), 50, null, BEN).results().stream()
                    .map(found -> found.agent().resource().name())
                    .toList();
        }

        Map<String, Long> skills(String words) {
            return requireNonNull(
                            search.facets(new SearchQuery(words, false, EntryFilter.NONE), List.of("skill"), 10, BEN)
                                    .facets()
                                    .get("skill"))
                    .buckets()
                    .stream()
                    .collect(Collectors.toMap(Bucket::value, Bucket::count));
        }
    }

    @BeforeEach
    void open() {
        one = hub();
        other = hub();
    }

    @AfterEach
    void close() {
        hubs.forEach(hub -> {
            hub.search().close();
            hub.entries().changes().log().close();
            hub.database().close();
        });
    }

    private Hub hub() {
        Database database = schema.shared();
        Entries entries = Entries.open(
                database,
                "agent.localhost",
                List.of(),
                (caller, agent) -> true,
                new NoParts(),
                new NoParts(),
                InstantSource.system());
        var hub = new Hub(database, entries, new Search(database, entries, MODEL));
        hubs.add(hub);
        return hub;
    }

    @Test
    void aSearchFindsWhatTheOtherHubHasJustWritten() {
        for (int round = 0; round < 10; round++) {
            Hub writer = round % 2 == 0 ? one : other;
            Hub reader = round % 2 == 0 ? other : one;
            String name = "Smith " + round;
            assertThat(reader.names(name)).doesNotContain(name);

            Entry entry = writer.publish(null, name, "forge");
            assertThat(reader.names(name)).contains(name);
            assertThat(reader.skills("")).containsEntry("forge", 1L);

            writer.publish(entry.id(), name, "weave");
            assertThat(reader.names("weave")).contains(name);
            assertThat(reader.names("forge")).isEmpty();
            assertThat(reader.skills("")).containsOnly(Map.entry("weave", 1L));

            writer.entries().setActive(entry.id(), false, ANNA);
            assertThat(reader.names(name)).doesNotContain(name);
            assertThat(reader.skills("")).isEmpty();
        }
    }

    @Test
    void meaningsThatAnotherHubHasReadAreFoundAlsoAfterAnErasure() throws Exception {
        for (int round = 0; round < 4; round++) {
            Hub writer = round % 2 == 0 ? one : other;
            Hub reader = round % 2 == 0 ? other : one;

            writer.publish(null, "Planner " + round, "vacation");
            assertThat(writer.search().awaitVectors(Duration.ofSeconds(30))).isTrue();
            assertThat(reader.names("holiday")).containsExactly("Planner " + round);

            new PersonalEntries(writer.database(), writer.entries().writer()).erase("blue", "anna");
            assertThat(reader.names("holiday")).isEmpty();
        }
    }

    @Test
    void vectorsHaveGrowingNumbersWhateverTheClocksOfHubs() throws Exception {
        one.publish(null, "Planner", "vacation");
        assertThat(one.search().awaitVectors(Duration.ofSeconds(30))).isTrue();
        assertThat(other.names("holiday")).containsExactly("Planner");
        // As if a hub whose clock is ahead had written a vector that is erased by now.
        schema.run("UPDATE registry_vector SET seq = seq + 4000000000000000");
        schema.run("UPDATE registry_vector_newest SET seq = seq + 4000000000000000");
        assertThat(other.names("holiday")).containsExactly("Planner");
        new PersonalEntries(one.database(), one.entries().writer()).erase("blue", "anna");

        one.publish(null, "Guide", "vacation");

        assertThat(one.search().awaitVectors(Duration.ofSeconds(30))).isTrue();
        assertThat(other.names("holiday")).containsExactly("Guide");
    }

    @Test
    void entriesThatAreOlderThanTheIndexAreIndexedWhileAnotherHubChangesThem() {
        Entry entry = one.publish(null, "Smith", "forge");
        schema.run("DELETE FROM registry_search_entry; DELETE FROM registry_search");

        Hub third = hub();

        assertThat(third.names("forge")).containsExactly("Smith");
        other.publish(entry.id(), "Smith", "weave");
        assertThat(third.names("weave")).containsExactly("Smith");
    }
}
