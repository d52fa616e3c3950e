package dev.parley.registry.store;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Difference;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.document.Document;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a registry: the one record that all of its faces read and write. A caller sees its own entries, those of its group
 * that are visible to the group, and public ones; others do not exist for it. Safe for any thread.
 */
public interface Entries {
    /** The registry itself as a reader of all entries. */
    CallContext ITSELF = new CallContext(
            new CallContext.Caller(Entry.HUB, Set.of("admin"), ""),
            new CallContext.Scope("", Entry.HUB),
            CallContext.anonymous().wire(),
            CallContext.anonymous().trace(),
            null);

    /**
     * A document to publish.
     *
     * @param id URN; null for one that is made of the publisher domain, the group and the name
     * @param document bytes, which are kept and served unchanged
     * @param url from which the document was fetched, and is fetched for probes; null for none
     * @param lease after which the entry expires without a heartbeat; null for none
     * @param refuse kinds of differences that refuse the publication
     * @param metadata further members of the entry; {@code trustManifest} and {@code trustManifests} are those of AI Catalogs as trees of
     *     JSON, which are verified against the document
     */
    record Publication(
            @Nullable String id,
            String type,
            byte[] document,
            @Nullable String url,
            @Nullable String humanId,
            Entry.Visibility visibility,
            @Nullable Duration lease,
            List<Difference.Kind> refuse,
            Map<String, Object> metadata) {}

    /** Publishes a document: a new entry, or a new version of one that the caller owns. */
    Entry publish(Publication publication, CallContext publisher);

    /**
     * Publishes a copy of an entry of a peer under its own id, which no caller can change.
     *
     * @throws dev.parley.protocol.A2AException if the id is taken, or the document is refused
     */
    Entry copy(Publication publication, String peer);

    /** The entry with a URN or readable id that the caller may see. */
    Optional<Entry> find(String id, CallContext viewer);

    /** The bytes of a version of a document as the caller may see it, with its own entity tag; of the newest one for null. */
    Document document(String id, @Nullable Long revision, CallContext viewer);

    /** The entry with the content of an older version of its document, if that is kept and the caller may see it. */
    Optional<Entry> version(String id, int revision, CallContext viewer);

    /** A page of entries in a stable order: {@code name}, {@code change}, {@code updated} or {@code created}, descending after a minus. */
    EntryPage list(EntryFilter filter, String order, int size, @Nullable String token, CallContext viewer);

    /**
     * Changes an entry that the caller owns, or as the registry itself, and writes it to the log.
     *
     * @param editor null for the registry itself
     */
    Entry change(
            String id,
            EntryChange.Kind kind,
            Map<String, Object> details,
            @Nullable CallContext editor,
            UnaryOperator<Entry> edit);

    /** Adds a listener, before the first change. */
    void listen(EntryListener listener);

    /** Adds a check, before the first publication. */
    void check(EntryCheck check);
}
