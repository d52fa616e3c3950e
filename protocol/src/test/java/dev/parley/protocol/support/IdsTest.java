package dev.parley.protocol.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class IdsTest {
    @Test
    void noRandomBitsAreUsedTwice() throws Exception {
        Instant now = Instant.parse("2026-01-05T09:00:00Z");
        Callable<ArrayList<String>> makes = () -> {
            var made = new ArrayList<String>();
            for (int i = 0; i < 2_000; i++) {
                made.add(Ids.next(now));
            }
            return made;
        };

        var ids = new HashSet<String>();
        var lower = new HashSet<Long>();
        try (var threads = Executors.newFixedThreadPool(4)) {
            for (var future : threads.invokeAll(Collections.nCopies(4, makes))) {
                for (String id : future.get()) {
                    assertThat(Ids.madeAt(id)).isEqualTo(now);
                    ids.add(id);
                    lower.add(UUID.fromString(id).getLeastSignificantBits());
                }
            }
        }

        assertThat(ids).hasSize(8_000);
        assertThat(lower).hasSize(8_000).doesNotContain(0x8000_0000_0000_0000L);
    }
}
