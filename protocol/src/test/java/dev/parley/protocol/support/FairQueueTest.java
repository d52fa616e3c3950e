package dev.parley.protocol.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A group that has many waiting does not keep another waiting for all of them. */
final class FairQueueTest {
    @Test
    void groupsComeInTurn() {
        var queue = new FairQueue<String>();
        for (int i = 1; i <= 4; i++) {
            queue.add("noisy", "noisy " + i);
        }
        queue.add("quiet", "quiet 1");
        queue.add("quiet", "quiet 2");
        queue.add("other", "other 1");

        var order = new ArrayList<String>();
        for (String next = queue.poll(); next != null; next = queue.poll()) {
            order.add(next);
        }

        assertThat(order)
                .isEqualTo(List.of("noisy 1", "quiet 1", "other 1", "noisy 2", "quiet 2", "noisy 3", "noisy 4"));
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void whoComesBackBeginsAtTheEnd() {
        var queue = new FairQueue<String>();
        queue.add("a", "a 1");
        queue.add("b", "b 1");
        assertThat(queue.poll()).isEqualTo("a 1");
        queue.add("a", "a 2");

        assertThat(queue.poll()).isEqualTo("b 1");
        assertThat(queue.poll()).isEqualTo("a 2");
        assertThat(queue.poll()).isNull();
    }
}
