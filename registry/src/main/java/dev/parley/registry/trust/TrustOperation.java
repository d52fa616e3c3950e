package dev.parley.registry.trust;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryModel;
import java.util.List;

/** Operations of the administration on trust in entries: their requests, their answers, and a row for each. */
public final class TrustOperation {
    private TrustOperation() {}

    /**
     * Revokes an entry of any owner.
     *
     * @param id URN of the entry
     * @param reason which readers see
     */
    @AdminCall.Named("registry/revoke")
    record RevokeEntry(String id, String reason) implements AdminCall<Entry> {}

    /** Reads the keys that are trusted, and verifies all documents again. */
    @AdminCall.Named("registry/verify")
    record VerifyEntries() implements AdminCall<Long> {}

    static final ExtensionMethod<RevokeEntry, Entry> REVOKE = AdminRow.of(
            RevokeEntry.class,
            "POST /registry/revocations",
            "Revoke an entry of any owner",
            ObjectCodec.<RevokeEntry>of()
                    .required("id", TEXT, RevokeEntry::id)
                    .help("ID", "URN of the entry.")
                    .required("reason", TEXT, RevokeEntry::reason)
                    .help("TEXT", "Reason, which readers see.")
                    .as(v -> new RevokeEntry(v.next(), v.next())),
            EntryModel.ENTRY);

    /** The answer is the number of verdicts that have changed. */
    static final ExtensionMethod<VerifyEntries, Long> VERIFY = AdminRow.of(
            VerifyEntries.class,
            "POST /registry/verify",
            "Read the keys that are trusted, and verify all documents again",
            ObjectCodec.<VerifyEntries>of().as(v -> new VerifyEntries()),
            ObjectCodec.<Long>of()
                    .required("changed", COUNT, changed -> changed)
                    .as(v -> v.next()));

    /** All rows. */
    public static final List<ExtensionMethod<?, ?>> ROWS = List.of(REVOKE, VERIFY);
}
