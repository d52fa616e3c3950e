package dev.parley.server.limits;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class UnfinishedRequestsTest {
    private final UnfinishedRequests all = new UnfinishedRequests(100);
    private final UnfinishedRequests.Share greedy = all.new Share();
    private final UnfinishedRequests.Share modest = all.new Share();

    @Test
    void aConnectionWithMoreThanItsShareIsRefusedAndOthersAreNot() {
        for (int i = 0; i < 99; i++) {
            assertThat(greedy.begin()).isTrue();
        }
        assertThat(modest.begin()).isTrue();

        assertThat(greedy.begin()).isFalse();

        assertThat(modest.begin()).isTrue();
    }

    @Test
    void requestsThatHaveEndedDoNotCount() {
        for (int i = 0; i < 100; i++) {
            greedy.begin();
        }

        for (int i = 0; i < 100; i++) {
            greedy.end();
        }

        assertThat(all.count()).isZero();
        assertThat(greedy.begin()).isTrue();
    }
}
