package dev.parley.store.audit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.protocol.support.Sha256;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Hashes of the audit's chain. Names of people, and ids that they choose, go into it as hashes, so that they can be forgotten
 * without breaking it.
 */
public final class AuditChain {
    /** Prefix of the hash that replaces an erased name or id. */
    public static final String FORGOTTEN = "sha256:";

    static final String GENESIS = "0".repeat(64);

    /** Members of the detail with values that callers choose: texts, or lists of texts. */
    private static final Set<String> CHOSEN = Set.of(
            "agents",
            "content",
            "contextId",
            "correlationId",
            "justification",
            "messageId",
            "receiver",
            "sourceAgentId",
            "taskId");

    private AuditChain() {}

    /** Returns the hash that replaces an erased name or id. */
    public static String hashed(String name) {
        return FORGOTTEN + Sha256.hex(name);
    }

    /** @param detail without what was chosen */
    static String chained(
            String before,
            long number,
            long at,
            AuditEntry entry,
            String detail,
            String salt,
            UnaryOperator<String> names) {
        List<?> all = Arrays.asList(
                before,
                number,
                at,
                entry.group(),
                names.apply(entry.actor()),
                entry.action(),
                isAskedFor(entry) ? forgettable(entry.target()) : entry.target(),
                entry.subject().isEmpty() ? "" : names.apply(entry.subject()),
                entry.outcome(),
                addressInChain(entry.address(), salt),
                entry.trace(),
                detail);
        return HexFormat.of().formatHex(Sha256.of(Json.write(all)));
    }

    /** The hash of a link over entries of the log. */
    static String chained(String before, long last, long at, int entries, String places, byte[] hashes) {
        List<?> all =
                Arrays.asList(before, last, at, entries, places, HexFormat.of().formatHex(hashes));
        return HexFormat.of().formatHex(Sha256.of(Json.write(all)));
    }

    /**
     * What stands for an entry of the log in its link. The id of its context is among its events.
     *
     * @param digest is used, and reset
     */
    static byte[] entryDigest(
            MessageDigest digest,
            long number,
            long at,
            AuditEntry entry,
            String addressInChain,
            byte[] hashOfEvents,
            UnaryOperator<String> names) {
        var text = new StringBuilder(400);
        field(text, Long.toString(number));
        field(text, Long.toString(at));
        field(text, entry.group());
        field(text, names.apply(entry.actor()));
        field(text, entry.action());
        field(text, entry.target());
        field(text, entry.subject().isEmpty() ? "" : names.apply(entry.subject()));
        field(text, entry.outcome());
        field(text, addressInChain);
        field(text, entry.trace());
        field(text, String.valueOf(entry.detail().get("agent")));
        field(text, String.valueOf(entry.detail().get("before")));
        Object agents = entry.detail().get("agents");
        field(text, agents == null ? "" : String.valueOf(forgettable(agents, names)));
        digest.update(text.toString().getBytes(UTF_8));
        return digest.digest(hashOfEvents);
    }

    /** Adds a field with its length, so that different lists of fields are different texts. */
    static void field(StringBuilder text, String value) {
        text.append(value.length()).append(':').append(value);
    }

    /** After an erasure the hash of the chain stands in the place of the salt. */
    static String addressInChain(String address, String salt) {
        return address.isEmpty() && (salt.isEmpty() || isHash(salt)) ? salt : hashed(salt + " " + address);
    }

    static String text(Map<String, ?> detail) {
        return detail.isEmpty() ? "{}" : new String(Json.write(new TreeMap<>(detail)), UTF_8);
    }

    static Map<String, ?> withoutChosen(Map<String, ?> detail) {
        if (Collections.disjoint(detail.keySet(), CHOSEN)) {
            return detail;
        }
        var hashes = new TreeMap<String, @Nullable Object>(detail);
        hashes.replaceAll((name, value) -> CHOSEN.contains(name) ? forgettable(value) : value);
        return hashes;
    }

    static String withoutChosen(Map<String, ?> detail, String text) {
        return Collections.disjoint(detail.keySet(), CHOSEN) ? text : text(withoutChosen(detail));
    }

    /** True if the target was named by the caller of a refused call, and need not be the id of anything. */
    static boolean isAskedFor(AuditEntry entry) {
        return entry.action().equals("call.denied");
    }

    static @Nullable Object forgettable(@Nullable Object chosen) {
        return forgettable(chosen, AuditChain::forgettable);
    }

    static @Nullable Object forgettable(@Nullable Object chosen, UnaryOperator<String> names) {
        return switch (chosen) {
            case String one -> names.apply(one);
            case List<?> several ->
                several.stream().map(each -> forgettable(each, names)).toList();
            case null, default -> chosen;
        };
    }

    static boolean isHex(String text) {
        return text.length() == GENESIS.length() && text.chars().allMatch(HexFormat::isHexDigit);
    }

    static String forgettable(String name) {
        return isHash(name) ? name : hashed(name);
    }

    static boolean isHash(String text) {
        return text.startsWith(FORGOTTEN)
                && text.length() == FORGOTTEN.length() + GENESIS.length()
                && text.chars().skip(FORGOTTEN.length()).allMatch(HexFormat::isHexDigit);
    }
}
