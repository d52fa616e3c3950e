package dev.parley.knowledge.sparql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

/** Members of a JSON object are those of a map in order, without absent ones. */
final class JsonMembersTest {
    private static final List<String> NAMES = List.of("z", "y", "x", "w");

    private final JsonMembers members = new JsonMembers(NAMES, null, "1", null, "2");

    @Test
    void areInOrderAndLeaveOutAbsentOnes() {
        assertThat(members).containsExactly(Map.entry("y", "1"), Map.entry("w", "2"));
        assertThat(members.get("z")).isNull();
        assertThat(members.containsKey("x")).isFalse();
        assertThat(members.get("w")).isEqualTo("2");
    }

    @Test
    void areEqualToAnyMapOfThem() {
        assertThat(members).isEqualTo(new LinkedHashMap<>(Map.of("w", "2", "y", "1")));
        assertThat(new JsonMembers(NAMES, null, null, null, null)).isEmpty();
    }

    @Test
    void cannotBeChanged() {
        assertThatThrownBy(() -> members.put("z", "3")).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> members.remove("y")).isInstanceOf(UnsupportedOperationException.class);
        var entries = members.entrySet().iterator();
        entries.next();
        entries.next();
        assertThatThrownBy(entries::next).isInstanceOf(NoSuchElementException.class);
    }
}
