package dev.parley.registry.trust;

import static java.util.Objects.requireNonNull;

import dev.parley.extension.Handlers;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubTimers;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryModel;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.InspectionOperation;
import dev.parley.registry.InspectionOperation.RevokeEntry;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryReader;
import dev.parley.registry.store.EntryWriter;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Operations on trust. All documents are verified again after a start with other keys, when a key becomes valid or expires, and when an
 * operator asks for it.
 */
public final class TrustOperations {
    private static final Logger LOG = System.getLogger("dev.parley.registry");
    private static final String TIMER = "keys";
    private static final int PAGE = 200;
    private static final int MAX_REASON = 1_000;

    private final EntryReader reader;
    private final EntryWriter writer;
    private final HubParts hub;
    private final TrustCheck check;
    private final HubTimers.Timers timer;
    private final Epochs epochs;

    public TrustOperations(Entries entries, HubParts hub, TrustCheck check) {
        this.reader = entries.reader();
        this.writer = entries.writer();
        this.hub = hub;
        this.check = check;
        this.timer = hub.timers().named("registry/trust", (id, position) -> verifyNext(position));
        this.epochs = hub.database().access().epochs();
        epochs.keep(Epoch.REGISTRY, this::follow);
        if (!isVerified()) {
            timer.set(TIMER, entries.clock().instant(), "");
        }
    }

    /** Whether all documents were verified by the keys that this hub has read. */
    private boolean isVerified() {
        return hub.database()
                        .read(session -> session.number(
                                "SELECT count(*) FROM registry_trusted_keys WHERE fingerprint = ?",
                                check.fingerprint()))
                > 0;
    }

    /** Reads the keys again if another hub has verified documents by others. A file that cannot be read leaves them as they are. */
    private void follow() {
        try {
            if (!isVerified()) {
                check.reload();
            }
        } catch (UncheckedIOException | IllegalArgumentException unreadable) {
            LOG.log(Level.WARNING, "keys that another hub has read", unreadable);
        }
    }

    /** Answers the operation {@link InspectionOperation#REVOKE}. */
    public Entry revoke(RevokeEntry given, CallContext owner) {
        return revoke(given.id(), given.reason(), owner, owner);
    }

    /** Handlers of the {@linkplain TrustOperation operations of the administration}. */
    public Handlers administration() {
        return Handlers.NONE
                .call(TrustOperation.REVOKE, (given, operator) -> revoke(given.id(), given.reason(), null, operator))
                .call(TrustOperation.VERIFY, (given, operator) -> (long) verifyAll());
    }

    private Entry revoke(String id, String reason, @Nullable CallContext owner, CallContext caller) {
        if (reason.isBlank() || reason.length() > MAX_REASON) {
            throw A2AException.invalidParams(
                    "reason", reason.length() + " characters (expected: 1 to " + MAX_REASON + ")");
        }
        Entry revoked = writer.change(
                id,
                EntryChange.Kind.REVOKED,
                Map.of("reason", reason),
                owner,
                entry -> entry.with(entry.state().with(Entry.Status.REVOKED))
                        .with(entry.trust().with(Entry.Outcome.REVOKED, reason, Instant.now())));
        if (owner == null) { // changes by callers are audited as all of theirs
            hub.audit()
                    .note(new AuditEntry(
                            caller.scope().group(),
                            caller.caller(),
                            "registry.revoked",
                            revoked.id(),
                            revoked.ownership().principal(),
                            "ok",
                            caller.address(),
                            Objects.toString(caller.traceparent(), ""),
                            Map.of(
                                    "reason",
                                    reason,
                                    "digest",
                                    revoked.resource().digest())));
        }
        return revoked;
    }

    /**
     * Verifies a page of documents, and leaves the next one to another timer, so that neither a registry with many documents nor slow keys
     * of a few hold one for long.
     *
     * @param position fingerprint of the keys and token of the page; others than those of now begin anew
     */
    private void verifyNext(String position) {
        if (position.isEmpty()) {
            check.reload();
        }
        String fingerprint = check.fingerprint();
        String keys = fingerprint + ":"; // no position of an older version, whose tokens are unknown, begins with it
        Verified page = verify(position.startsWith(keys) ? position.substring(keys.length()) : null);
        if (page.next == null) {
            verified(fingerprint);
        } else {
            timer.set(TIMER, Instant.now(), keys + page.next);
        }
    }

    /** Verifies all documents by the keys of now, and returns how many verdicts have changed. */
    private int verifyAll() {
        check.reload();
        String fingerprint = check.fingerprint();
        Verified page = verify((String) null);
        int changed = page.changed;
        while (page.next != null) {
            page = verify(page.next);
            changed += page.changed;
        }
        verified(fingerprint);
        return changed;
    }

    private void verified(String fingerprint) {
        long number = hub.database().write(session -> {
            session.update("DELETE FROM registry_trusted_keys");
            session.update(
                    "INSERT INTO registry_trusted_keys (fingerprint) VALUES (?) ON CONFLICT DO NOTHING", fingerprint);
            return epochs.bump(session, Epoch.REGISTRY);
        });
        boolean unused = epochs.barrier(Epoch.REGISTRY, number); // all hubs have read the keys
        check.nextChange().ifPresent(next -> timer.set(TIMER, next, ""));
    }

    private record Verified(int changed, @Nullable String next) {}

    private Verified verify(@Nullable String token) {
        EntryPage page = reader.list(EntryFilter.NONE, Order.NAME, PAGE, token, Entries.ITSELF);
        return new Verified(
                (int) page.entries().stream().filter(this::isChanged).count(), page.next());
    }

    /** Verifies a document, and returns whether the verdict has changed. One that cannot be read keeps its verdict. */
    private boolean isChanged(Entry entry) {
        try {
            return verify(entry);
        } catch (A2AException gone) { // removed meanwhile, or its row was damaged
            LOG.log(Level.WARNING, "the signatures of entry " + entry.id() + " were not verified", gone);
            return false;
        }
    }

    private boolean verify(Entry entry) {
        Entry.Trust now = check.judged(
                entry, reader.document(entry.id(), null, Entries.ITSELF).bytes());
        if (now.outcome() == entry.trust().outcome()
                && now.reason().equals(entry.trust().reason())) {
            return false;
        }
        String digest = entry.resource().digest();
        writer.change(
                entry.id(),
                EntryChange.Kind.TRUST,
                Map.of("outcome", EntryModel.word(now.outcome()), "reason", now.reason()),
                null,
                current -> current.resource().digest().equals(digest)
                                && current.trust().outcome() != Entry.Outcome.REVOKED
                        ? current.with(current.trust().with(now.outcome(), now.reason(), requireNonNull(now.checked())))
                        : current);
        return true;
    }
}
