package dev.parley.protocol.support;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FairShareTest {
    @Test
    void aGroupLeavesAnEighthToTheOthers() {
        FairShare share = FairShare.sevenEighths(1_000);

        assertThat(taken(share, "greedy")).isEqualTo(875);
        assertThat(taken(share, "second")).isEqualTo(110);
        assertThat(share.hasRoom("third")).isTrue();
        assertThat(share.taken()).isEqualTo(985);
        assertThat(share.free()).isEqualTo(15);
    }

    @Test
    void aGroupMayTakeAllOfAFewPlaces() {
        FairShare share = FairShare.sevenEighths(4);

        assertThat(taken(share, "only")).isEqualTo(4);
        assertThat(share.hasRoom("other")).isFalse();
        share.giveBack("only");
        assertThat(share.hasRoom("other")).isTrue();
    }

    @Test
    void aGroupHasItsMostAndAsManyPlacesAsAreFree() {
        var share = new FairShare(16, 1, 6);

        assertThat(taken(share, "first")).isEqualTo(6);
        assertThat(taken(share, "second")).isEqualTo(5);
        assertThat(taken(share, "third")).isEqualTo(3);
        assertThat(taken(share, "fourth")).isEqualTo(1);
    }

    @Test
    void placesThatAreTakenAnywayCountToo() {
        FairShare share = FairShare.sevenEighths(1);
        share.take("one");
        share.take("one");

        assertThat(share.free()).isNegative();
        assertThat(share.hasRoom("other")).isFalse();
        share.giveBack("one");
        share.giveBack("one");
        assertThat(share.hasRoom("other")).isTrue();
    }

    @Test
    void manyPlacesAtOnceAreTakenAsIfOneByOne() {
        FairShare share = FairShare.sevenEighths(1_000);

        assertThat(share.hasRoom("greedy", 876)).isFalse();
        assertThat(share.hasRoom("greedy", 875)).isTrue();
        share.take("greedy", 875);
        assertThat(share.hasRoom("second", 111)).isFalse();
        assertThat(share.hasRoom("second", 110)).isTrue();
        share.giveBack("greedy", 875);
        assertThat(share.taken()).isZero();
        assertThat(share.hasRoom("second", 875)).isTrue();
    }

    private static int taken(FairShare share, String group) {
        int taken = 0;
        while (share.hasRoom(group)) {
            share.take(group);
            taken++;
        }
        return taken;
    }
}
