package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.InvalidField;
import java.net.InetAddress;
import java.net.URI;
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
        boolean hasCredentials = !authorization.get().isEmpty();
        require(query, hasCredentials);
        require(update, hasCredentials);
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
