package dev.parley.registry.store;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.JsonText;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryModel;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.ReviewOperation;
import dev.parley.registry.document.Document;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.store.database.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads entries as callers may see them, through a cache. Safe for any thread. */
public record EntryReader(Database database, EntryCache cache, Urns urns, Disclosure disclosure) {
    /** The entry with a URN or readable id that the caller may see. */
    public Optional<Entry> find(String id, CallContext viewer) {
        return Optional.ofNullable(seen(id, viewer)).map(entry -> disclosure.shown(entry, viewer));
    }

    /** The entry that a caller names, also by the domain of all hubs with default settings. */
    @Nullable
    Numbered named(String id) {
        Numbered entry = load(id);
        String own = entry == null ? urns.ofThisHub(id) : null;
        return own == null ? entry : load(own);
    }

    private @Nullable Numbered seen(String id, CallContext caller) {
        Numbered entry = named(id);
        return entry != null && disclosure.viewer(caller).sees(entry.entry()) ? entry : null;
    }

    @Nullable
    Numbered load(String id) {
        String urn = Urns.written(id);
        Numbered cached = cache.get(urn);
        if (cached != null && !isShared()) {
            return cached;
        }
        Numbered read = database.read(session -> {
                    if (cached != null && isNewest(cached, EntryRows.change(session, cached.number()))) {
                        return Optional.of(cached);
                    }
                    Optional<Numbered> byId = EntryRows.byId(session, urn);
                    return byId.isPresent()
                            ? byId
                            : id.startsWith("urn:")
                                    ? EntryRows.byAlias(session, urn)
                                    : EntryRows.byHumanId(session, id);
                })
                .orElse(null);
        if (read != null) {
            cache.put(read);
        } else if (cached != null) {
            cache.remove(urn);
        }
        return read;
    }

    /** Whether other hubs may have changed an entry of the cache: it is used if the database has the same change of it. */
    private boolean isShared() {
        return database.access().feeds().isShared();
    }

    private static boolean isNewest(Numbered entry, @Nullable Long change) {
        return change != null && entry.entry().state().change() == change;
    }

    /** The bytes of a version of a document as the caller may see it, with its own entity tag; of the newest one for null. */
    public Document document(String id, @Nullable Long revision, CallContext caller) {
        return disclosure.document(require(id, caller), revision, caller);
    }

    /** The entry with the content of an older version of its document, if that is kept and the caller may see it. */
    public Optional<Entry> version(String id, int revision, CallContext caller) {
        Numbered entry = seen(id, caller);
        return entry == null ? Optional.empty() : disclosure.version(entry, revision, caller);
    }

    /** The entry with the key of its row, for operations on what stands beside it. */
    Numbered require(String id, CallContext viewer) {
        Numbered entry = seen(id, viewer);
        if (entry == null) {
            throw Viewer.notFound(id);
        }
        return entry;
    }

    /** The entry for readers of its versions. */
    Numbered whole(String id, CallContext viewer) {
        Numbered entry = require(id, viewer);
        if (entry.views() != null) {
            disclosure.viewer(viewer).requireOwner(entry.entry());
        }
        return entry;
    }

    /** JSON of an entry as a caller sees it; as it is stored, if that is the same. */
    byte[] json(String id, CallContext caller) {
        Numbered entry = require(id, caller);
        Entry shown = disclosure.shown(entry, caller);
        return shown.equals(entry.entry()) ? entry.content() : EntryModel.write(shown);
    }

    /** An entry as a caller sees it. */
    Entry shown(String id, CallContext caller) {
        return disclosure.shown(require(id, caller), caller);
    }

    /** The selective views of an entry, for its owner. */
    Map<String, ReviewOperation.View> views(String id, CallContext owner) {
        Numbered known = require(id, owner);
        disclosure.viewer(owner).requireOwner(known.entry());
        byte[] stored = known.views();
        return stored == null ? Map.of() : JsonText.read(stored, ReviewOperation.VIEWS_JSON);
    }

    /** A page of entries in a stable order. */
    public EntryPage list(EntryFilter filter, Order order, int size, @Nullable String token, CallContext viewer) {
        return list(filter, order, size, token, false, viewer);
    }

    /** @param withDocuments whether the documents of the entries are read with the page */
    EntryPage list(
            EntryFilter filter,
            Order order,
            int size,
            @Nullable String token,
            boolean withDocuments,
            CallContext viewer) {
        EntryQuery query = disclosure.query(filter, viewer, false);
        List<?> list = List.of(order, Disclosure.list(filter, viewer));
        return database.read(session ->
                query.page(session, list, order, size, token, withDocuments, entry -> disclosure.shown(entry, viewer)));
    }

    /**
     * The first entries of a list.
     *
     * @param read number of the rows that were read, those included that the caller may not see
     */
    public record Some(List<Entry> entries, int read) {}

    /**
     * Entries by the keys of their rows: those that the caller may see, in the order of the keys, up to the first one with which they have
     * more than the bytes of a page.
     */
    public Some byNumbers(List<Long> numbers, CallContext caller) {
        Viewer viewer = disclosure.viewer(caller);
        var entries = new ArrayList<Entry>();
        long bytes = 0;
        int count = 0;
        Map<Long, Long> changes = isShared() ? database.read(session -> EntryRows.changes(session, numbers)) : Map.of();
        for (long number : numbers) {
            Numbered cached = cache.get(number);
            if (cached != null && isShared() && !isNewest(cached, changes.get(number))) {
                cached = null;
            }
            Numbered entry = cached != null
                    ? cached
                    : database.read(session -> EntryRows.byNumber(session, number))
                            .orElse(null);
            if (entry != null) {
                bytes += entry.content().length;
                if (count > 0 && bytes > EntryQuery.PAGE_BYTES) {
                    return new Some(entries, count);
                }
                if (cached == null) {
                    cache.put(entry);
                }
                if (viewer.sees(entry.entry())) {
                    entries.add(disclosure.shown(entry, caller));
                }
            }
            count++;
        }
        return new Some(entries, count);
    }
}
