package dev.parley.protocol.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;

final class LruMapTest {
    @Test
    void theEntryWhoseUseIsLongestAgoIsReplaced() {
        var removed = new ArrayList<String>();
        var map = new LruMap<Integer, String>(2, removed::add);
        map.put(1, "one");
        map.put(2, "two");
        map.get(1);

        map.put(3, "three");

        assertThat(map).containsOnlyKeys(1, 3);
        assertThat(removed).containsExactly("two");
    }
}
