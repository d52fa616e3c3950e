package dev.parley.protocol.extension;

import java.util.Collection;

/**
 * URIs of extensions. Those of Parley's own are permanent: {@value #PERMANENT} and the path of the document at each hub. The address of
 * that document at any hub, which earlier releases had on their cards, is an alias.
 *
 * <p>Source: A2A specification 1.0, section 4.6.3 (URIs have versions).
 */
public final class ExtensionUri {
    /** Beginning of permanent URIs; a path follows. */
    public static final String PERMANENT = "urn:parley:hub";

    private ExtensionUri() {}

    /** The permanent URI of an extension whose document every hub serves at a path, which begins with {@code /}. */
    public static String permanent(String path) {
        return PERMANENT + path;
    }

    /** Whether this is a permanent URI. */
    public static boolean isPermanent(String uri) {
        return uri.startsWith(PERMANENT + "/");
    }

    /**
     * The path of the document at the hub with a URL; empty if the hub has none for it.
     *
     * @param hub URL of the hub
     */
    public static String path(String uri, String hub) {
        if (isPermanent(uri)) {
            return uri.substring(PERMANENT.length());
        }
        return uri.startsWith(hub + "/") ? uri.substring(hub.length()) : "";
    }

    /** Whether two URIs name one extension: they are equal, or one is permanent and the other an alias of it. */
    public static boolean isSame(String one, String other) {
        return one.equals(other) || isAlias(other, one) || isAlias(one, other);
    }

    private static boolean isAlias(String uri, String permanent) {
        return isPermanent(permanent) && uri.endsWith(permanent.substring(PERMANENT.length()));
    }

    /** Whether one of these URIs names an extension. */
    public static boolean isAny(Collection<String> uris, String extension) {
        if (uris.isEmpty()) {
            return false;
        }
        return uris.contains(extension) || uris.stream().anyMatch(uri -> isSame(uri, extension));
    }
}
