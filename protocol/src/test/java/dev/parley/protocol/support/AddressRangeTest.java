package dev.parley.protocol.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRangeTest {
    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.255.0.1, true",
        "10.0.0.0/8, 11.0.0.0, false",
        "192.168.128.0/17, 192.168.127.255, false",
        "192.168.128.0/17, 192.168.255.255, true",
        "0.0.0.0/0, 203.0.113.7, true",
        "0.0.0.0/0, ::1, false",
        "127.0.0.1, 127.0.0.1, true",
        "127.0.0.1, 127.0.0.2, false",
        "127.0.0.1, ::ffff:127.0.0.1, true",
        "2001:db8::/33, 2001:db8:7fff::1, true",
        "2001:db8::/33, 2001:db8:8000::1, false"
    })
    void aRangeHoldsTheAddressesWithItsPrefix(String range, String address, boolean held) {
        assertThat(AddressRange.of(range).holds(AddressRange.literal(address).orElseThrow()))
                .isEqualTo(held);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "example.com",
                "localhost",
                "10.0.0.0/33",
                "10.0.0.0/-1",
                "10.0.0.0/",
                "10.1",
                "0x7f.0.0.1",
                "010.0.0.1",
                "1.2.3.256",
                "::1/129",
                ":::",
                "10.0.0.0/8/8",
                "fe80::1%eth0",
                "[::1]"
            })
    void namesAndOtherSpellingsAreNoRanges(String text) {
        assertThatThrownBy(() -> AddressRange.of(text)).isInstanceOf(IllegalArgumentException.class);
        assertThat(AddressRange.literal(text.split("/", 2)[0]).filter(address -> text.indexOf('/') < 0))
                .isEmpty();
    }
}
