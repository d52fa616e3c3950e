package dev.parley.store.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class QuotasTest {
    @Test
    void aGroupHasItsOwnLimitOrTheOneOfAll() {
        Quotas quotas = Quotas.of(List.of("10GB", "acme=500MB", "free=0", "a=b=1KB"));

        assertThat(quotas.of("any")).isEqualTo(10L << 30);
        assertThat(quotas.of("acme")).isEqualTo(500L << 20);
        assertThat(quotas.of("free")).isNull();
        assertThat(quotas.of("a=b")).isEqualTo(1 << 10);
        assertThat(Quotas.of(List.of()).of("any")).isNull();
        assertThat(Quotas.of(List.of("0")).of("any")).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "much           | group-quota \"much\": no size",
                "acme=          | group-quota \"acme=\": no size",
                "acme=-1        | group-quota \"acme=-1\": no size",
                "999999999999GB | group-quota \"999999999999GB\": no size",
                "=1GB           | group-quota \"=1GB\": no group",
            })
    void whatIsNoLimitIsRefused(String entry, String problem) {
        assertThatThrownBy(() -> Quotas.of(List.of(entry)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(problem)
                .hasMessageContaining("(expected: ");
    }

    @Test
    void twoLimitsOfOneGroupAreRefused() {
        assertThatThrownBy(() -> Quotas.of(List.of("acme=1GB", "acme=2GB")))
                .hasMessageStartingWith("group-quota \"acme=2GB\": the second one");
        assertThatThrownBy(() -> Quotas.of(List.of("1GB", "2GB")))
                .hasMessageStartingWith("group-quota \"2GB\": the second one");
    }
}
