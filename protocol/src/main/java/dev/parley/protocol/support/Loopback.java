package dev.parley.protocol.support;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Names of this machine's loopback interface in URLs. */
public final class Loopback {
    private static final String NAME = "(?i:localhost|127(?:\\.\\d{1,3}){3}|\\[::1])";
    private static final Pattern HOST = Pattern.compile(NAME);
    private static final Pattern ADDRESS =
            Pattern.compile("(?i:(\\[?(::|(0+:){5})ffff:)?127(\\.\\d{1,3}){3}]?|\\[?(::|(0+:){7})0*1]?)(%\\w+)?");
    private static final Pattern AUTHORITY = Pattern.compile(NAME + "(:\\d{1,5})?");
    private static final Pattern URL = Pattern.compile("^http://" + NAME + "(:\\d+)?(?=/|$)");

    private Loopback() {}

    /** True for an address of the loopback interface as a server names its client. */
    public static boolean isAddress(String address) {
        return ADDRESS.matcher(address).matches();
    }

    /** True for a host name, or an address, of the loopback interface. */
    public static boolean is(String host) {
        return HOST.matcher(host).matches();
    }

    /**
     * Returns an address on this machine by its name {@code localhost}, with the port that the caller called, and others
     * unchanged. A host that is not this machine's counts for nothing: plain addresses that others could reach are not made
     * from what a caller says.
     *
     * @param called the authority that the caller called; null if it named none
     */
    public static String local(String url, @Nullable String called) {
        Matcher here = URL.matcher(url);
        if (!here.find()) {
            return url;
        }
        Matcher authority = AUTHORITY.matcher(called == null ? "" : called);
        String port = authority.matches() ? authority.group(1) : here.group(1);
        return "http://localhost" + (port == null ? "" : port) + url.substring(here.end());
    }
}
