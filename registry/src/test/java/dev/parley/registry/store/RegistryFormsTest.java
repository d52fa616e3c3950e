package dev.parley.registry.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.extension.RestParameter;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryModel;
import dev.parley.registry.EntryOperation;
import dev.parley.registry.EntryOperation.ListEntries;
import dev.parley.registry.HistoryOperation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegistryFormsTest {
    private static Map<String, @Nullable Object> entry(String status, String outcome, String health, String cause) {
        var entry = new LinkedHashMap<String, @Nullable Object>();
        for (String member : List.of("id", "type", "name", "digest", "group", "owner")) {
            entry.put(member, member);
        }
        entry.put("visibility", "public");
        entry.put("trust", Map.of("outcome", outcome, "teeOutcome", outcome));
        entry.put("health", Map.of("status", health, "cause", cause));
        entry.put("status", status);
        entry.put("revision", 1);
        entry.put("change", 1);
        entry.put("created", "2026-01-01T00:00:00Z");
        entry.put("updated", "2026-01-01T00:00:00Z");
        return entry;
    }

    @Test
    @DisplayName("words of a newer registry are read as those that promise least")
    void newerWords() {
        Entry entry = EntryModel.ENTRY.fromJson(entry("suspended", "certified", "asleep", "rate-limit"));

        assertThat(entry.isUsable()).isFalse();
        assertThat(entry.trust().outcome()).isEqualTo(Entry.Outcome.UNVERIFIABLE);
        assertThat(entry.trust().teeOutcome()).isEqualTo(Entry.TeeOutcome.UNVERIFIED);
        assertThat(entry.health().status()).isEqualTo(Entry.HealthStatus.UNKNOWN);
        assertThat(entry.health().cause()).isEqualTo(Entry.Cause.NONE);
        Entry known = EntryModel.ENTRY.fromJson(entry("deprecated", "verified", "degraded", "card-drift"));
        assertThat(known.isUsable()).isTrue();
        assertThat(known.trust().outcome()).isEqualTo(Entry.Outcome.VERIFIED);
        assertThat(known.health().cause()).isEqualTo(Entry.Cause.CARD_DRIFT);
        assertThatThrownBy(() ->
                        EntryModel.ENTRY.fromJson(entry("suspended", "verified", "up", "none").entrySet().stream()
                                .filter(member -> !member.getKey().equals("status"))
                                .collect(
                                        LinkedHashMap::new,
                                        (all, one) -> all.put(one.getKey(), one.getValue()),
                                        Map::putAll)))
                .hasMessageContaining("status");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "abc", "", "99999999999999999999"})
    @DisplayName("a position of another registry means all changes, and its absence new ones only")
    void positions(String after) {
        var watch = HistoryOperation.WATCH.request();

        assertThat(watch.fromJson(Map.of("after", after)).after()).isZero();
        assertThat(watch.fromJson(Map.of("after", -1)).after()).isZero();
        assertThat(watch.fromJson(Map.of("after", 7, "pageSize", 1000)).after()).isEqualTo(7);
        assertThat(watch.fromJson(Map.of()).after()).isNull();
    }

    @Test
    @DisplayName("a filter by a field that requests do not have is not sent without it")
    void fields() {
        var unknown = new EntryFilter(List.of(), List.of(), Map.of("name", List.of("echo")), false);
        var known = new EntryFilter(
                List.of(), List.of(), Map.of("owner", List.of("me"), "metadata.kind", List.of("sensor")), true);

        assertThatThrownBy(() -> EntryOperation.LIST.request().toJson(list(unknown)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name");
        assertThat(EntryOperation.LIST.request().toJson(list(known)))
                .isEqualTo(Map.of("owner", List.of("me"), "metadata", List.of("kind=sensor"), "hidden", true));
    }

    private static ListEntries list(EntryFilter filter) {
        return new ListEntries(filter, null, null, null, null);
    }

    @Test
    @DisplayName("a list of words is an option that is repeated")
    void options() {
        assertThat(requireNonNull(EntryOperation.PUBLISH.description()).parameters())
                .filteredOn(one -> one.name().equals("refuse"))
                .extracting(RestParameter::type)
                .containsExactly(RestParameter.Type.TEXTS);
    }
}
