package dev.parley.registry.store;

import dev.parley.protocol.CallContext;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Identities of entries: {@code urn:air:PUBLISHER:GROUP:NAME}.
 *
 * @param publisher domain of the hub
 * @param domains further domains as {@code GROUP=DOMAIN}, below which members of a group may publish
 */
record Urns(String publisher, List<String> domains) {
    private static final String PREFIX = "urn:air:";
    private static final String OLD_PREFIX = "urn:ai:";
    private static final Pattern FORM = Pattern.compile("urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+");
    /** Segment of the hub's own agents. */
    private static final String OWN = "agents";

    private static final int MAX_SEGMENT = 100;

    /** Verbs behind ids in paths. */
    private static final Set<String> VERBS =
            Set.of("renew", "transfer", "revoke", "review", "note", "restore", "views", "validate", "refresh");

    Urns {
        domains = List.copyOf(domains);
    }

    /** The id as it is written: the older prefix is read only. */
    static String written(String id) {
        return id.startsWith(OLD_PREFIX) ? PREFIX + id.substring(OLD_PREFIX.length()) : id;
    }

    static @Nullable String publisher(String id) {
        int end = id.indexOf(':', PREFIX.length());
        return id.startsWith(PREFIX) && end > 0 ? id.substring(PREFIX.length(), end) : null;
    }

    /** Whether an owner may use an id: below the hub's own domain in its group, or below a domain that its group has. */
    boolean mayUse(String id, CallContext owner) {
        if (!FORM.matcher(id).matches() || VERBS.contains(id.substring(id.lastIndexOf(':') + 1))) {
            return false;
        }
        String group = owner.scope().group();
        return id.startsWith(PREFIX + publisher + ":" + group(group) + ":")
                || domains.contains(group + "=" + publisher(id));
    }

    String of(String group, String name) {
        return PREFIX + publisher + ":" + group(group) + ":" + segment(name);
    }

    /** The id of an agent of the hub itself. */
    String ofOwn(String agent) {
        return PREFIX + publisher + ":" + OWN + ":" + segment(agent);
    }

    private static String group(String group) {
        String segment = segment(group);
        return segment.equals(OWN) ? OWN + "-group" : segment;
    }

    private static String segment(String text) {
        String segment =
                text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9._-]+", "-").replaceAll("^[-.]+|[-.]+$", "");
        if (segment.isEmpty() || VERBS.contains(segment)) {
            return segment.isEmpty() ? "agent" : segment + "-agent";
        }
        return segment.length() <= MAX_SEGMENT ? segment : segment.substring(0, MAX_SEGMENT);
    }
}
