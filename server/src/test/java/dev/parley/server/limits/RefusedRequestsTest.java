package dev.parley.server.limits;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class RefusedRequestsTest {
    private static final long NOW = 5;

    private final RefusedRequests refused = new RefusedRequests();

    @Test
    void manyRefusedRequestsOfAnAddressAreAFloodOfThatAddress() {
        refuse(60);
        assertThat(refused.isFlood("one", NOW)).isFalse();

        refuse(10);

        assertThat(refused.isFlood("one", NOW)).isTrue();
        assertThat(refused.isFlood("other", NOW)).isFalse();
    }

    @Test
    void refusedRequestsCountLessWithTime() {
        refuse(100);

        assertThat(refused.isFlood("one", NOW + TimeUnit.SECONDS.toNanos(1))).isFalse();
        assertThat(refused.isFlood("one", NOW + TimeUnit.MILLISECONDS.toNanos(500)))
                .isTrue();
    }

    private void refuse(int times) {
        for (int i = 0; i < times; i++) {
            refused.add("one", NOW);
        }
    }
}
