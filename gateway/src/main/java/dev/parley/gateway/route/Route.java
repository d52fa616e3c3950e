package dev.parley.gateway.route;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.gateway.upstream.UpstreamSettings;
import dev.parley.protocol.A2AException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A remote agent that the hub hosts.
 *
 * @param name of the hosted agent
 * @param url address of the remote agent or of its card, as the operator typed it
 * @param options of the route by their names, such as {@value #BINDING}, in JSON
 * @param state whether calls are passed on
 * @param reason of a state other than {@link State#ACTIVE}, for operators; empty for none
 * @param card document of the remote agent that callers may rely on; null before it was read for the first time
 * @param pending newer document that waits for an operator; null for none
 */
public record Route(
        String name,
        String url,
        Map<String, Object> options,
        State state,
        String reason,
        byte @Nullable [] card,
        byte @Nullable [] pending) {
    /** Option: the binding of A2A that is preferred, such as {@code GRPC}. */
    public static final String BINDING = "binding";
    /** Option: the only version of A2A, or other dialect, in which the agent is called. */
    public static final String VERSION = "version";
    /** Option: scheme, host and port that are called, if the card is elsewhere. */
    public static final String ADDRESS = "address";
    /** Option: the card is served byte for byte. */
    public static final String VERBATIM = "verbatim";
    /** Option: public keys of which one has to sign the card. */
    public static final String TRUST = "trust";
    /** Option: id of the entry of the registry from which the address is; calls end with the entry. */
    public static final String ENTRY = "entry";
    /** Option: group of the operator who has named the entry. */
    public static final String ENTRY_GROUP = "entryGroup";
    /** Option: the operator of the process has named the host, which may be private. */
    public static final String LOCAL = "local";

    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");

    /** Whether calls are passed on. */
    public enum State {
        ACTIVE,
        /** An operator has paused the route. */
        PAUSED,
        /** The card has other security than the confirmed one. */
        CHANGED;

        /** As operators read it. */
        public String shown() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public Route {
        requireNonNull(url, "url");
        requireNonNull(state, "state");
        requireNonNull(reason, "reason");
        options = Map.copyOf(options);
        if (!isName(name)) {
            throw A2AException.invalidParams(
                    "name", name + " (expected: at most 63 of a-z, 0-9, dots, underscores and dashes)");
        }
    }

    /** Whether a text can be the name of a route. */
    public static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    /** A new route without a card. */
    public static Route of(String name, String url, Map<String, Object> options) {
        return new Route(name, url, options, State.ACTIVE, "", null, null);
    }

    /** Returns this route with a document that callers may rely on. */
    public Route with(byte[] confirmed) {
        return new Route(name, url, options, State.ACTIVE, "", confirmed, null);
    }

    /** Returns this route in another state. */
    public Route in(State other, String because, byte @Nullable [] waiting) {
        return new Route(name, url, options, other, because, card, waiting);
    }

    /** Text of an option; empty for none. */
    public String option(String option) {
        Object value = options.get(option);
        return value == null ? "" : value.toString();
    }

    public boolean isVerbatim() {
        return Boolean.TRUE.equals(options.get(VERBATIM));
    }

    /** Whether the operator of the process has named the host, which may be private. */
    public boolean isLocal() {
        return Boolean.TRUE.equals(options.get(LOCAL));
    }

    /** Whether both routes lead to the same agent in the same way, be it at other replicas or within other limits. */
    public boolean leadsWhere(Route other) {
        return url.equals(other.url) && calls().equals(other.calls());
    }

    private Map<String, Object> calls() {
        var calls = new LinkedHashMap<String, Object>(options);
        calls.keySet().removeAll(UpstreamSettings.NAMES);
        return calls;
    }

    /** Returns this route with another option. */
    public Route with(String option, Object value) {
        var changed = new LinkedHashMap<String, Object>(options);
        changed.put(option, value);
        return new Route(name, url, changed, state, reason, card, pending);
    }

    /** Whether both routes are hosted in the same way. */
    public boolean isSame(Route other) {
        return url.equals(other.url)
                && options.equals(other.options)
                && Arrays.equals(card, other.card)
                && state == other.state;
    }

    byte[] settings() {
        var settings = new LinkedHashMap<String, Object>(options);
        settings.put("url", url);
        return Json.write(settings);
    }

    @SuppressWarnings("unchecked") // an object has names as keys
    static Route read(
            String name, byte[] settings, String state, String reason, byte @Nullable [] card, byte @Nullable [] next) {
        var options = new LinkedHashMap<String, Object>(Json.read(settings, Map.class));
        String url = String.valueOf(options.remove("url"));
        return new Route(name, url, options, State.valueOf(state), reason, card, next);
    }
}
