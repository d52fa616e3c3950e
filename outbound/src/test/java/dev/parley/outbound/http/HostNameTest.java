package dev.parley.outbound.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostNameTest {

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 127.0.0.1",
        "127.0.0.1., 127.0.0.1",
        "127.1, 127.0.0.1",
        "127.0.1, 127.0.0.1",
        "10.65535, 10.0.255.255",
        "2130706433, 127.0.0.1",
        "017700000001, 127.0.0.1",
        "0177.1, 127.0.0.1",
        "0177.0.0.01, 127.0.0.1",
        "0x7f.1, 127.0.0.1",
        "0X7F.0x0.0x0.0x1, 127.0.0.1",
        "0x7f000001, 127.0.0.1",
        "0x.1, 0.0.0.1",
        "0, 0.0.0.0",
        "１２７.０.０.１, 127.0.0.1",
        "127。0．0｡1, 127.0.0.1",
        "①②⑦.0.0.1, 127.0.0.1",
        "[::1], 0:0:0:0:0:0:0:1",
        "[::ffff:127.0.0.1], 127.0.0.1",
        "[::FFFF:7f00:1], 127.0.0.1",
        "[2001:DB8::1], 2001:db8:0:0:0:0:0:1",
        "[1:2:3:4:5:6:7:8], 1:2:3:4:5:6:7:8",
    })
    void anAddressIsReadInEverySpellingThatAResolverKnows(String written, String usual) {
        HostName host = HostName.of(written);

        assertThat(host.name()).isEqualTo(usual);
        assertThat(host.address()).isNotNull();
    }

    @ParameterizedTest
    @CsvSource({
        "Example.COM, example.com",
        "example.com., example.com",
        "ｅｘａｍｐｌｅ.com, example.com",
        "bücher.example, xn--bcher-kva.example",
        "BÜCHER.example, xn--bcher-kva.example",
        "xn--bcher-kva.example, xn--bcher-kva.example",
        "example。com, example.com",
        "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ, localhost",
        "my_host, my_host",
        "1.2.3.example, 1.2.3.example",
        "a1, a1",
    })
    void aNameIsBroughtIntoOneForm(String written, String form) {
        HostName host = HostName.of(written);

        assertThat(host.name()).isEqualTo(form);
        assertThat(host.address()).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ".",
                "..",
                "localhost..",
                "a..b",
                ".example.com",
                "-a.example",
                "a-.example",
                "exa mple",
                "example.com%00",
                "a/b",
                "1.2.3.4.5",
                "256.1.1.1",
                "1.2.3.256",
                "1.16777216",
                "4294967296",
                "99999999999999999999",
                "08.1",
                "0xg.1",
                "example.1",
                "example.0x1",
                "[::1",
                "[]",
                "[1]",
                "[1:2:3:4:5:6:7]",
                "[1:2:3:4:5:6:7:8:9]",
                "[1::2::3]",
                "[12345::]",
                "[::1.2.3]",
                "[::300.1.1.1]",
                "[::ffff:010.0.0.1]",
                "[1:2:3:4:5:6:7::8]",
                "[fe80::1%25eth0]",
                "[fe80::1%eth0]",
                "[v1.x]",
            })
    void whatIsNeitherNameNorAddressIsRefused(String written) {
        assertThatThrownBy(() -> HostName.of(written)).isInstanceOf(IllegalArgumentException.class);
    }
}
