package dev.parley.outbound.http;

import java.net.IDN;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.text.Normalizer;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The host of a URL in the one form that is compared, looked up and dialled.
 *
 * <p>Resolvers and browsers read {@code 0x7f.1}, {@code 2130706433} and full-width digits as addresses. A check of
 * a host must read it in the same way, otherwise check and connection may concern two different machines.
 *
 * @param name lower case, ASCII, without brackets or trailing dot; addresses in their usual spelling
 * @param address the address that the host is, or null if it is a name
 */
public record HostName(String name, @Nullable InetAddress address) {
    private static final Pattern LABELS =
            Pattern.compile("[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*");
    private static final Pattern NUMBER = Pattern.compile("[0-9]+|0x[0-9a-f]*");
    private static final Pattern V6 = Pattern.compile("[0-9a-fA-F:]+(:(0|[1-9]\\d{0,2})(\\.(0|[1-9]\\d{0,2})){3})?");
    private static final int MAX_LENGTH = 253;

    /**
     * Reads the host of a URL, or of an allow-list.
     *
     * @throws IllegalArgumentException if it is neither a name nor an address; the message says why
     */
    public static HostName of(String host) {
        if (host.startsWith("[") || host.indexOf(':') >= 0) {
            String literal = host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
            return v6(literal).map(HostName::at).orElseThrow(() -> new IllegalArgumentException("no IPv6 address"));
        }
        String name = ascii(host);
        String last = name.substring(name.lastIndexOf('.') + 1);
        if (NUMBER.matcher(last).matches()) {
            return v4(name).map(HostName::at).orElseThrow(() -> new IllegalArgumentException("no IPv4 address"));
        }
        if (name.length() > MAX_LENGTH || !LABELS.matcher(name).matches()) {
            throw new IllegalArgumentException("no valid host name");
        }
        return new HostName(name, null);
    }

    /** Reads an address in its usual spelling, or empty if it is not one. */
    public static Optional<byte[]> literal(String text) {
        if (text.indexOf(':') >= 0) {
            return v6(text);
        }
        return text.matches("\\d{1,3}(\\.\\d{1,3}){3}") ? v4(text) : Optional.empty();
    }

    /** True if this is {@code domain} or lies below it. */
    public boolean isWithin(String domain) {
        return name.equals(domain) || name.endsWith("." + domain);
    }

    /** The host as it is written in a URL. */
    String inUrl() {
        return name.indexOf(':') >= 0 ? "[" + name + "]" : name;
    }

    private static HostName at(byte[] bytes) {
        try {
            InetAddress address = InetAddress.getByAddress(bytes); // makes an IPv4 address of a mapped one
            return new HostName(address.getHostAddress(), address);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("address length: " + bytes.length, e);
        }
    }

    private static String ascii(String host) {
        // NFKC turns full-width and circled characters into plain ones; the ideographic full stop stays and is a dot
        // too.
        String dotted = Normalizer.normalize(host, Normalizer.Form.NFKC).replace('\u3002', '.');
        String name = dotted.endsWith(".") ? dotted.substring(0, dotted.length() - 1) : dotted;
        if (name.isEmpty()) {
            throw new IllegalArgumentException("no host");
        }
        try {
            return IDN.toASCII(name, 0).toLowerCase(Locale.ROOT);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("no valid host name", e);
        }
    }

    /** One to four numbers, decimal, octal ({@code 0177}) or hexadecimal ({@code 0x7f}); the last fills the rest. */
    private static Optional<byte[]> v4(String text) {
        String[] numbers = text.split("\\.", -1);
        if (numbers.length > 4) {
            return Optional.empty();
        }
        long address = 0;
        for (int i = 0; i < numbers.length; i++) {
            boolean last = i == numbers.length - 1;
            int bits = last ? 8 * (5 - numbers.length) : 8;
            long number = number(numbers[i]);
            if (number < 0 || number >= 1L << bits) {
                return Optional.empty();
            }
            address = address << bits | number;
        }
        return Optional.of(
                new byte[] {(byte) (address >> 24), (byte) (address >> 16), (byte) (address >> 8), (byte) address});
    }

    private static long number(String text) {
        try {
            if (text.startsWith("0x")) {
                return text.length() == 2 ? 0 : Long.parseUnsignedLong(text, 2, text.length(), 16);
            }
            if (text.isEmpty() || !Character.isDigit(text.charAt(0))) {
                return -1;
            }
            return Long.parseLong(text, text.length() > 1 && text.startsWith("0") ? 8 : 10);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** The JDK reads an address in brackets, without asking a resolver. An address with a zone is not accepted. */
    private static Optional<byte[]> v6(String text) {
        if (!V6.matcher(text).matches()) {
            return Optional.empty();
        }
        try {
            byte[] address = InetAddress.getByName("[" + text + "]").getAddress();
            if (address.length == 16) {
                return Optional.of(address);
            }
            byte[] mapped = new byte[16]; // of which the JDK makes an IPv4 address
            mapped[10] = (byte) 0xff;
            mapped[11] = (byte) 0xff;
            System.arraycopy(address, 0, mapped, 12, 4);
            return Optional.of(mapped);
        } catch (UnknownHostException none) {
            return Optional.empty();
        }
    }
}
