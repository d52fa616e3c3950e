package dev.parley.store.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SeenKeysTest {
    private static final long MONDAY = 20_000;
    private static final long LANE = 1;

    private final SeenKeys seen = new SeenKeys();

    @Test
    void whatWasAddedMayHaveBeenSeenAndNearlyAllElseIsNew() {
        IntStream.range(0, 100_000).forEach(each -> seen.add(MONDAY, LANE, "old-" + each));
        seen.completed();

        assertThat(IntStream.range(0, 100_000)).allMatch(each -> seen.mayHave(LANE, "old-" + each));
        assertThat(IntStream.range(0, 100_000).filter(each -> seen.mayHave(LANE, "new-" + each)))
                .hasSizeLessThan(100);
    }

    @Test
    void theSameIdOfAnotherLaneIsNew() {
        seen.add(MONDAY, LANE, "message");
        seen.completed();

        assertThat(seen.mayHave(LANE + 1, "message")).isFalse();
    }

    @Test
    void noMessageIsNewBeforeAllThatIsKnownWasAdded() {
        assertThat(seen.mayHave(LANE, "message")).isTrue();

        seen.completed();

        assertThat(seen.mayHave(LANE, "message")).isFalse();
    }

    @Test
    void keysAreForgottenWhenTheDayAfterTheNextHasOne() {
        seen.add(MONDAY, LANE, "monday");
        seen.completed();
        seen.add(MONDAY + 1, LANE, "tuesday");
        assertThat(seen.mayHave(LANE, "monday")).isTrue();

        seen.add(MONDAY + 2, LANE, "wednesday");

        assertThat(seen.mayHave(LANE, "monday")).isFalse();
        assertThat(seen.mayHave(LANE, "tuesday")).isTrue();
        assertThat(seen.mayHave(LANE, "wednesday")).isTrue();
    }

    @Test
    void keysOfYesterdayMayBeAddedAfterThoseOfToday() {
        seen.add(MONDAY + 1, LANE, "tuesday");
        seen.add(MONDAY, LANE, "monday");
        seen.completed();

        assertThat(seen.mayHave(LANE, "monday")).isTrue();
        assertThat(seen.mayHave(LANE, "tuesday")).isTrue();
    }
}
