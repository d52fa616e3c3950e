package dev.parley.outbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.outbound.AddressTable.Prefix;
import dev.parley.outbound.http.HostName;
import java.net.InetAddress;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressTableTest {

    @ParameterizedTest
    @CsvSource({
        "0.0.0.0, an unspecified address",
        "0.1.2.3, an unspecified address",
        "10.0.0.0, a private address",
        "10.255.255.255, a private address",
        "100.64.0.1, a carrier's internal address",
        "100.127.255.255, a carrier's internal address",
        "127.0.0.1, a loopback address",
        "127.255.255.254, a loopback address",
        "168.63.129.16, a cloud platform's internal address",
        "169.254.169.254, a link-local address",
        "172.16.0.1, a private address",
        "172.31.255.255, a private address",
        "192.0.0.170, an address reserved for protocols",
        "192.0.2.1, a documentation address",
        "192.88.99.1, a 6to4 relay address",
        "192.168.0.1, a private address",
        "198.18.0.1, a benchmarking address",
        "198.19.255.255, a benchmarking address",
        "198.51.100.7, a documentation address",
        "203.0.113.7, a documentation address",
        "224.0.0.1, a multicast address",
        "239.255.255.255, a multicast address",
        "240.0.0.1, a reserved address",
        "255.255.255.255, the broadcast address",
        ":: , the unspecified address",
        "::1, the loopback address",
        "::2, outside the public address space",
        "::7f00:1, outside the public address space",
        "64:ff9b:1::8.8.8.8, a network's own NAT64 address",
        "100::1, outside the public address space",
        "2001:2::1, an address reserved for protocols",
        "2001:20::1, an address reserved for protocols",
        "2001:db8::1, a documentation address",
        "3fff::1, a documentation address",
        "4000::1, outside the public address space",
        "5f00::1, outside the public address space",
        "fc00::1, a private address",
        "fd00:ec2::254, a private address",
        "fe80::1, a link-local address",
        "febf::1, a link-local address",
        "fec0::1, a private address",
        "ff02::1, a multicast address",
    })
    void anAddressThatIsNotPublicIsNamedForWhatItIs(String address, String kind) {
        assertThat(refusal(address)).contains(kind);
    }

    @ParameterizedTest
    @CsvSource({
        "::ffff:127.0.0.1, a loopback address",
        "::ffff:a00:1, a private address",
        "64:ff9b::127.0.0.1, a loopback address",
        "64:ff9b::a9fe:a9fe, a link-local address",
        "2002:7f00:1::, a loopback address",
        "2002:c0a8:101::1, a private address",
        "2001:0:7f00:1::f7f7:f7f7, a loopback address",
        "2001:0:808:808::f5ff:fffe, a private address",
    })
    void anAddressThatWrapsAnotherOneIsJudgedByThatOne(String address, String kind) {
        assertThat(refusal(address)).contains(kind);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.1.1.1",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2606:4700::1111",
                "2a00:1450:4001:82a::200e",
                "::ffff:8.8.8.8",
                "64:ff9b::8.8.8.8",
                "2002:808:808::1",
                "2001:0:808:808::f7f7:f7f7",
            })
    void aPublicAddressPasses(String address) {
        assertThat(refusal(address)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "10.0.0/8", "example.com/8", "::1/129"})
    void aPrefixThatIsNoneIsRefused(String text) {
        assertThatThrownBy(() -> Prefix.of(text)).isInstanceOf(IllegalArgumentException.class);
    }

    private static Optional<String> refusal(String literal) {
        InetAddress address = HostName.of(literal).address();
        assertThat(address).as(literal).isNotNull();
        return AddressTable.refusal(address);
    }
}
