package dev.parley.protocol.support;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * IP addresses with a common prefix, such as {@code 10.0.0.0/8}, or a single one.
 *
 * @param address whose first {@code length} bits are those of all addresses of the range
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record AddressRange(byte[] address, int length) {
    private static final Pattern V4 = Pattern.compile("(0|[1-9]\\d{0,2})(\\.(0|[1-9]\\d{0,2})){3}");
    private static final Pattern V6 = Pattern.compile("[0-9a-fA-F:]*:[0-9a-fA-F:]*(" + V4 + ")?");

    public AddressRange {
        if (length < 0 || length > address.length * 8) {
            throw new IllegalArgumentException(
                    "prefix length: " + length + " (expected: 0 to " + address.length * 8 + ")");
        }
        address = address.clone();
    }

    /**
     * Reads {@code 10.0.0.0/8}, {@code fd00::/8}, or a single address.
     *
     * @throws IllegalArgumentException if it is neither
     */
    public static AddressRange of(String text) {
        int slash = text.indexOf('/');
        InetAddress first = literal(slash < 0 ? text : text.substring(0, slash)).orElseThrow(() -> noRange(text));
        int most = first.getAddress().length * 8;
        if (slash < 0) {
            return new AddressRange(first.getAddress(), most);
        }
        String bits = text.substring(slash + 1);
        if (!bits.matches("\\d{1,3}") || Integer.parseInt(bits) > most) {
            throw noRange(text);
        }
        return new AddressRange(first.getAddress(), Integer.parseInt(bits));
    }

    private static IllegalArgumentException noRange(String text) {
        return new IllegalArgumentException("address: " + text + " (expected: IP or IP/bits)");
    }

    /** Reads an address in its usual spelling, with an IPv4 address for one that is mapped to IPv6; empty if it is not one. */
    public static Optional<InetAddress> literal(String text) {
        if (!V4.matcher(text).matches() && !V6.matcher(text).matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(InetAddress.getByName(text)); // looks up no literal
        } catch (UnknownHostException malformed) {
            return Optional.empty();
        }
    }

    /** Whether the range has an address. */
    public boolean holds(InetAddress other) {
        byte[] bytes = other.getAddress();
        int whole = length / 8;
        return bytes.length == address.length
                && Arrays.equals(bytes, 0, whole, address, 0, whole)
                && (length % 8 == 0 || (bytes[whole] ^ address[whole]) >> (8 - length % 8) == 0);
    }
}
