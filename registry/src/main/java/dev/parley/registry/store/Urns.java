package dev.parley.registry.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.Sha256;
import java.net.URLDecoder;
import java.text.Normalizer;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
    /** Domain above the publishers of hubs with default settings, which no one owns. */
    static final String DEFAULT_PUBLISHERS = ".agent.localhost";

    /** Segment of the hub's own agents. */
    private static final String OWN = "agents";

    private static final Pattern PART = Pattern.compile("[a-zA-Z0-9._-]+");

    /** Characters whose loss makes another name of a name. */
    private static final Pattern LOST = Pattern.compile("[^a-z0-9._\\s\\-()\\[\\]{}'\",:;/&|!?]");

    private static final int MAX_SEGMENT = 100;

    /** Characters of a digest in a part. */
    private static final int DIGEST = 10;

    /** Verbs after ids in paths. */
    private static final Set<String> VERBS =
            Set.of("renew", "transfer", "revoke", "review", "note", "restore", "views", "validate", "refresh");

    Urns {
        domains = List.copyOf(domains);
    }

    /**
     * The id as it is written. The older prefix is read only, and parts with other characters than those of URNs of ARD, such as a name as
     * readers see it, stand for the parts that are made of them.
     */
    static String written(String id) {
        String urn = id.startsWith(OLD_PREFIX) ? PREFIX + id.substring(OLD_PREFIX.length()) : id;
        if (!urn.startsWith(PREFIX) || FORM.matcher(urn).matches()) {
            return urn;
        }
        return Stream.of(decoded(urn).split(":"))
                .map(part -> PART.matcher(part).matches() ? part : segment(part))
                .collect(Collectors.joining(":"));
    }

    private static String decoded(String urn) {
        try {
            return URLDecoder.decode(urn.replace("+", "%2B"), UTF_8);
        } catch (IllegalArgumentException other) {
            return urn; // a percent sign of the name itself
        }
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

    /** An id of any hub with default settings as one of this hub, if it has them; else null. */
    @Nullable
    String ofThisHub(String id) {
        String any = PREFIX + DEFAULT_PUBLISHERS.substring(1) + ":";
        return id.startsWith(any) && publisher.endsWith(DEFAULT_PUBLISHERS)
                ? PREFIX + publisher + ":" + id.substring(any.length())
                : null;
    }

    boolean isOfHub(String id) {
        return publisher.equals(publisher(id));
    }

    /** The id of an agent of the hub itself. */
    String ofOwn(String agent) {
        return PREFIX + publisher + ":" + OWN + ":" + segment(agent);
    }

    private static String group(String group) {
        String segment = segment(group);
        return segment.equals(OWN) ? OWN + "-group" : segment;
    }

    /**
     * Part of an id for a name: its words in lower case. If that loses more of the name than spaces and punctuation, a digest of the whole
     * name follows, so that names in other scripts, {@code C++} and {@code C#} have parts of their own. See {@code
     * docs/adr/0085-names-and-ids-of-entries.md}.
     */
    static String segment(String name) {
        String folded = Normalizer.normalize(name, Normalizer.Form.NFKC)
                .toUpperCase(Locale.ROOT)
                .toLowerCase(Locale.ROOT);
        String words = Normalizer.normalize(folded, Normalizer.Form.NFKD)
                .replaceAll("\\p{M}+", "")
                .replaceAll("[^a-z0-9._-]+", "-")
                .replaceAll("^[-.]+|[-.]+$", "");
        String segment = words.isEmpty() ? "agent" : VERBS.contains(words) ? words + "-agent" : words;
        if (!words.isEmpty() && !LOST.matcher(folded).find() && words.length() <= MAX_SEGMENT) {
            return segment;
        }
        return segment.substring(0, Math.min(segment.length(), MAX_SEGMENT - DIGEST - 1)) + "-"
                + HexFormat.of().formatHex(Sha256.of(folded.getBytes(UTF_8))).substring(0, DIGEST);
    }
}
