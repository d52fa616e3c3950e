package dev.parley.registry.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.registry.Cards;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Health;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.State;
import dev.parley.registry.Entry.Trust;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.store.EntryRows.Numbered;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class EntryCacheTest {
    private static Numbered entry(long number, long change) {
        var resource = CardReader.read(
                        Entry.AGENT_CARD, Cards.v1("Agent " + number, "forge").getBytes(UTF_8), null, null, Map.of())
                .resource();
        var entry = new Entry(
                "urn:air:agent.localhost:" + number,
                resource,
                new Ownership("blue", "anna", Entry.Visibility.PUBLIC),
                new Trust(Entry.Outcome.UNSIGNED, "", null, null, null, null),
                Health.UNKNOWN,
                new State(Entry.Status.ACTIVE, 1, change, Instant.EPOCH, Instant.EPOCH, null));
        return Numbered.of(number, entry, null, null);
    }

    private static @Nullable Long change(@Nullable Numbered entry) {
        return entry == null ? null : entry.entry().state().change();
    }

    @Test
    void entriesThatWereUsedLastStayWithinTheBoundOfTheirObjects() {
        int json = entry(1, 1).content().length;
        var cache = new EntryCache(10L * 4 * json);
        for (int number = 1; number <= 9; number++) {
            cache.put(entry(number, number));
        }
        assertThat(cache.get(1)).isNotNull();

        for (int number = 10; number <= 15; number++) {
            cache.put(entry(number, number));
        }

        assertThat(cache.get(1)).isNotNull();
        assertThat(cache.get(2)).isNull();
        assertThat(cache.get("urn:air:agent.localhost:2")).isNull();
        assertThat(cache.get("urn:air:agent.localhost:15")).isNotNull();
    }

    @Test
    void anOlderVersionOfAnEntryReplacesNone() {
        var cache = new EntryCache(EntryCache.MAX_BYTES);
        cache.put(entry(1, 7));

        cache.put(entry(1, 6));

        assertThat(change(cache.get(1))).isEqualTo(7);
    }
}
