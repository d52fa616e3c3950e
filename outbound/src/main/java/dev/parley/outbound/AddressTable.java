package dev.parley.outbound;

import dev.parley.outbound.http.HostName;
import java.math.BigInteger;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Table of the addresses that webhooks must not reach, each with its reason.
 *
 * <p>The first row that contains an address decides, so a narrow range stands above the wide one around it. IPv6 addresses are
 * refused unless a row allows their range, so ranges that are assigned later stay refused until they get a row.
 *
 * <p>Sources: the IANA special-purpose address registries for IPv4 and IPv6; RFC 6052 (NAT64), RFC 3056 (6to4), RFC 4380
 * (Teredo).
 */
final class AddressTable {
    private static final List<Range> V4 = List.of(
            refused("0.0.0.0/8", "an unspecified address"),
            refused("10.0.0.0/8", "a private address"),
            refused("100.64.0.0/10", "a carrier's internal address"),
            refused("127.0.0.0/8", "a loopback address"),
            refused("168.63.129.16/32", "a cloud platform's internal address"),
            refused("169.254.0.0/16", "a link-local address"),
            refused("172.16.0.0/12", "a private address"),
            refused("192.0.0.0/24", "an address reserved for protocols"),
            refused("192.0.2.0/24", "a documentation address"),
            refused("192.88.99.0/24", "a 6to4 relay address"),
            refused("192.168.0.0/16", "a private address"),
            refused("198.18.0.0/15", "a benchmarking address"),
            refused("198.51.100.0/24", "a documentation address"),
            refused("203.0.113.0/24", "a documentation address"),
            refused("224.0.0.0/4", "a multicast address"),
            refused("255.255.255.255/32", "the broadcast address"),
            refused("240.0.0.0/4", "a reserved address"),
            open("0.0.0.0/0"));

    private static final List<Range> V6 = List.of(
            refused("::/128", "the unspecified address"),
            refused("::1/128", "the loopback address"),
            embeds("::ffff:0:0/96", 12),
            embeds("64:ff9b::/96", 12),
            refused("64:ff9b:1::/48", "a network's own NAT64 address"),
            refused("fc00::/7", "a private address"),
            refused("fe80::/10", "a link-local address"),
            refused("fec0::/10", "a private address"),
            refused("ff00::/8", "a multicast address"),
            // Teredo: the server's address, and the client's with all bits turned.
            new Range(Prefix.of("2001::/32"), "", List.of(new Embedded(4, false), new Embedded(12, true))),
            refused("2001::/23", "an address reserved for protocols"),
            refused("2001:db8::/32", "a documentation address"),
            embeds("2002::/16", 2),
            refused("3fff::/20", "a documentation address"),
            open("2000::/3"),
            refused("::/0", "outside the public address space"));

    /** Position of an IPv4 address in an IPv6 address, and whether its bits are inverted. */
    private record Embedded(int offset, boolean turned) {
        byte[] in(byte[] address) {
            byte[] inner = Arrays.copyOfRange(address, offset, offset + 4);
            for (int i = 0; turned && i < inner.length; i++) {
                inner[i] = (byte) ~inner[i];
            }
            return inner;
        }
    }

    /** A row: refused with a reason, or (empty reason) as good as the addresses inside it, or open. */
    private record Range(Prefix prefix, String reason, List<Embedded> embedded) {}

    /** The addresses whose first {@code length} bits are those of {@code address}. */
    record Prefix(byte[] address, int length) {
        Prefix {
            if (length < 0 || length > address.length * 8) {
                throw new IllegalArgumentException(
                        "prefix length: " + length + " (expected: 0 to " + address.length * 8 + ")");
            }
        }

        /**
         * Reads {@code 10.0.0.0/8}, or a single address.
         *
         * @throws IllegalArgumentException if it is neither
         */
        static Prefix of(String text) {
            int slash = text.indexOf('/');
            String literal = slash < 0 ? text : text.substring(0, slash);
            byte[] address = HostName.literal(literal)
                    .orElseThrow(() -> new IllegalArgumentException("address: " + text + " (expected: IP or IP/bits)"));
            int bits = slash < 0 ? address.length * 8 : Integer.parseInt(text.substring(slash + 1));
            return new Prefix(address, bits);
        }

        boolean holds(byte[] other) {
            if (other.length != address.length) {
                return false;
            }
            int rest = address.length * 8 - length;
            return new BigInteger(1, other).shiftRight(rest).equals(new BigInteger(1, address).shiftRight(rest));
        }
    }

    private AddressTable() {}

    /** Returns what kind of address this is if webhooks may not go there, such as {@code a private address}. */
    static Optional<String> refusal(InetAddress address) {
        return refusal(address.getAddress());
    }

    private static Optional<String> refusal(byte[] address) {
        Range range = (address.length == 4 ? V4 : V6)
                .stream().filter(row -> row.prefix().holds(address)).findFirst().orElseThrow();
        if (!range.reason().isEmpty()) {
            return Optional.of(range.reason());
        }
        return range.embedded().stream()
                .map(inner -> refusal(inner.in(address)))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static Range refused(String prefix, String reason) {
        return new Range(Prefix.of(prefix), reason, List.of());
    }

    private static Range embeds(String prefix, int offset) {
        return new Range(Prefix.of(prefix), "", List.of(new Embedded(offset, false)));
    }

    private static Range open(String prefix) {
        return new Range(Prefix.of(prefix), "", List.of());
    }
}
