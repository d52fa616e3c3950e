package dev.parley.knowledge.model;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.InvalidField;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.function.Supplier;

/**
 * A SPARQL 1.1 server for the statements of graphs.
 *
 * @param query address of its query service
 * @param update address of its update service; often the same
 * @param authorization value of the header {@code Authorization}, read again for each request; empty for none
 */
public record SparqlService(URI query, URI update, Supplier<String> authorization) {
    private static final String FIELD = "sparql";

    /**
     * @throws InvalidField if an address is not one of HTTP, has a user in it, or would get credentials unencrypted on another
     *     machine
     */
    public SparqlService {
        requireNonNull(authorization, "authorization");
        boolean hasCredentials = !header(authorization.get()).isEmpty();
        require(query, hasCredentials);
        require(update, hasCredentials);
    }

    /**
     * Reads a setting: {@code sparql=URL}, or {@code sparql=URL,URL} with an address of queries and one of updates.
     *
     * @param authorization as in the record
     * @throws InvalidField if it is not one, or an address is refused
     */
    public static SparqlService parse(String setting, Supplier<String> authorization) {
        String prefix = FIELD + "=";
        String[] addresses =
                setting.startsWith(prefix) ? setting.substring(prefix.length()).split(",", -1) : new String[0];
        if (addresses.length < 1 || addresses.length > 2) {
            throw InvalidField.of(FIELD, "\"" + setting + "\" (expected: sparql=URL or sparql=URL,URL)");
        }
        return new SparqlService(address(addresses[0]), address(addresses[addresses.length - 1]), authorization);
    }

    private static URI address(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException wrong) {
            throw InvalidField.of(FIELD, "not an address (expected: an http or https address)");
        }
    }

    /** Returns the value of the header {@code Authorization} without white space around it. */
    public String header() {
        return header(authorization.get());
    }

    private static String header(String text) {
        String value = text.strip();
        if (!value.chars().allMatch(c -> c >= ' ' && c < 0x7F)) {
            throw InvalidField.of("authorization", "not the value of a header (expected: one line of ASCII)");
        }
        return value;
    }

    private static void require(URI address, boolean hasCredentials) {
        String scheme = address.getScheme();
        boolean isHttp = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
        if (!isHttp || address.getHost() == null) {
            throw InvalidField.of(FIELD, "\"" + withoutUser(address) + "\" (expected: an http or https address)");
        }
        if (address.getRawUserInfo() != null) {
            throw InvalidField.of(
                    FIELD,
                    "\"" + withoutUser(address) + "\": has a user or password (expected: credentials apart from it)");
        }
        if (hasCredentials && "http".equalsIgnoreCase(scheme) && !isLoopback(address.getHost())) {
            throw InvalidField.of(
                    FIELD, "\"" + address + "\": would get credentials unencrypted (expected: an https address)");
        }
    }

    private static String withoutUser(URI address) {
        String text = address.toString();
        String user = address.getRawUserInfo();
        return user == null ? text : text.replace(user + "@", "");
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException elsewhere) {
            return false;
        }
    }
}
