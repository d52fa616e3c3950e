package dev.parley.knowledge.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The provenance of a statement is an immutable copy, which other statements share. */
final class StatementTest {
    @Test
    void provenanceIsCopiedOnceInOrder() {
        var given = new LinkedHashMap<String, Object>();
        given.put("z", 1);
        given.put("a", null);
        Statement first = Statement.of("s", "p", Term.Literal.of("o")).withProvenance(given);
        given.put("b", 2);

        assertThat(first.provenance())
                .containsExactly(Map.entry("z", 1), new java.util.AbstractMap.SimpleEntry<>("a", null));
        assertThat(first.provenance().containsKey("a")).isTrue();
        assertThatThrownBy(() -> first.provenance().put("c", 3)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> first.provenance().clear()).isInstanceOf(UnsupportedOperationException.class);
        assertThat(first.in("g").provenance()).isSameAs(first.provenance());
    }
}
