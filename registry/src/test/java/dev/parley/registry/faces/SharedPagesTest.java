package dev.parley.registry.faces;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.registry.faces.FusedLists.Page;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pages of fused results at two hubs that work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedPagesTest {
    private static final CallContext ANNA = CallContext.of("anna", new Scope("blue", "anna"));
    private static final CallContext BEN = CallContext.of("ben", new Scope("blue", "ben"));

    @Test
    void eachPageMayBeReadAtAnotherHubByItsCaller() {
        var schema = new SharedSchema();
        try (Database one = schema.shared();
                Database other = schema.shared()) {
            var lists = new FusedLists(one);
            var others = new FusedLists(other);
            var results = new ArrayList<Map<String, @Nullable Object>>();
            for (int i = 0; i < 5; i++) {
                results.add(Map.of("identifier", "urn:" + i, "score", i, "tags", List.of("a", "b")));
            }

            Page first = lists.begin(results, 2, ANNA);
            Page second = others.page(requireNonNull(first.next()), 2, ANNA);
            Page third = lists.page(requireNonNull(second.next()), 2, ANNA);

            assertThat(List.of(first.results(), second.results(), third.results()))
                    .flatExtracting(page -> page)
                    .extracting(result -> result.get("identifier"), result -> result.get("tags"))
                    .containsExactlyElementsOf(results.stream()
                            .map(result -> tuple(result.get("identifier"), result.get("tags")))
                            .toList());
            assertThat(third.next()).isNull();
            assertThatThrownBy(() -> others.page(requireNonNull(first.next()), 2, BEN))
                    .isInstanceOf(A2AException.class);
            schema.run("UPDATE registry_fused SET made_at = made_at - interval '1 hour'");
            assertThatThrownBy(() -> others.page(requireNonNull(first.next()), 2, ANNA))
                    .isInstanceOf(A2AException.class)
                    .hasMessageContaining("expected: a new search");
            assertThat(others.begin(results, 2, BEN).next()).isNotNull();
            long kept = one.read(session -> session.number("SELECT count(*) FROM registry_fused"));
            assertThat(kept).isOne();
        }
    }

    @Test
    void aSearchHasItsFirstPageWhileNothingCanBeWritten() {
        var schema = new SharedSchema();
        try (Database one = schema.shared()) {
            var lists = new FusedLists(one);
            schema.run("ALTER TABLE registry_fused RENAME TO away");

            Page first = lists.begin(List.of(Map.of("score", 3), Map.of("score", 2), Map.of("score", 1)), 2, ANNA);

            assertThat(first.results()).hasSize(2);
            assertThat(first.next()).isNull();
        }
    }
}
