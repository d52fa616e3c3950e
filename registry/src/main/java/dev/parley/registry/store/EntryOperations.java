package dev.parley.registry.store;

import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.extension.WireDocument;
import dev.parley.protocol.support.Sha256;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryModel;
import dev.parley.registry.RegistryError;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.RegistryProtocol.WatchChanges;
import dev.parley.registry.store.CardFetch.Fetched;
import dev.parley.registry.store.ChangeFeed.Batch;
import dev.parley.registry.store.Entries.Document;
import dev.parley.registry.store.Entries.Filter;
import dev.parley.registry.store.Entries.Page;
import dev.parley.registry.store.Entries.Publication;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** Handlers of the operations on the record of entries. */
public final class EntryOperations {
    private static final int DEFAULT_PAGE = 50;

    private static final int MAX_TEXT = 4_000;
    private static final int IMPORTS_AT_ONCE = 32;

    private final StoredEntries entries;
    private final CardFetch fetch;

    public EntryOperations(StoredEntries entries, CardFetch fetch) {
        this.entries = entries;
        this.fetch = fetch;
    }

    /** Handlers by the names of their operations. */
    public Map<String, Handler> handlers() {
        var handlers = new LinkedHashMap<String, Handler>();
        handlers.put(RegistryProtocol.REGISTER, this::register);
        handlers.put(RegistryProtocol.LIST, this::list);
        handlers.put(RegistryProtocol.SHOW, this::show);
        handlers.put(RegistryProtocol.CARD, this::card);
        handlers.put(RegistryProtocol.PUBLISH, this::publish);
        handlers.put(RegistryProtocol.UPDATE, this::update);
        handlers.put(RegistryProtocol.DELETE, this::delete);
        handlers.put(RegistryProtocol.RESTORE, this::restore);
        handlers.put(RegistryProtocol.RENEW, this::renew);
        handlers.put(RegistryProtocol.TRANSFER, this::transfer);
        handlers.put(RegistryProtocol.VERSIONS, this::versions);
        handlers.put(RegistryProtocol.DIFF, this::diff);
        handlers.put(RegistryProtocol.REVIEW, (given, caller) -> review(given, Reviews.REVIEW, caller));
        handlers.put(RegistryProtocol.NOTE, (given, caller) -> review(given, Reviews.NOTE, caller));
        handlers.put(
                RegistryProtocol.REVIEWS,
                (given, caller) -> entries.reviews()
                        .list(entries.require(id(given), caller).number(), caller));
        handlers.put(RegistryProtocol.VIEWS, (given, caller) -> Map.of("views", entries.views(id(given), caller)));
        handlers.put(RegistryProtocol.SET_VIEWS, (given, caller) -> {
            entries.setViews(id(given), members(given.get("views")), caller);
            return Map.of("views", entries.views(id(given), caller));
        });
        handlers.put(RegistryProtocol.CHANGES, this::changes);
        handlers.put(RegistryProtocol.EXPORT, this::export);
        handlers.put(RegistryProtocol.IMPORT, this::imported);
        return handlers;
    }

    private static String id(Map<String, @Nullable Object> given) {
        return String.valueOf(given.get("id"));
    }

    private Entry entry(Map<String, @Nullable Object> given, CallContext caller) {
        return entries.shown(id(given), caller);
    }

    public static Object json(Entry entry) {
        return requireNonNullElse(EntryModel.ENTRY.toJson(entry), Map.of());
    }

    private Object register(Map<String, @Nullable Object> given, CallContext caller) {
        Publication publication = publication(given, null, document(given, null, caller));
        entries.refuseAnother(publication, caller);
        return json(entries.publish(publication, caller));
    }

    /** A new version of an entry; what the request leaves out stays as it is. */
    private Object publish(Map<String, @Nullable Object> given, CallContext caller) {
        Entry entry = entry(given, caller);
        Fetched document = document(given, entry, caller);
        return json(entries.publish(publication(given, entry, document), caller));
    }

    private Fetched document(Map<String, @Nullable Object> given, @Nullable Entry entry, CallContext caller) {
        String address = text(given, "url");
        if (given.get("bytes") instanceof String base64) {
            try {
                return new Fetched(address, Base64.getDecoder().decode(base64));
            } catch (IllegalArgumentException none) {
                throw A2AException.invalidParams("bytes", "no base64 (expected: the bytes of a document)");
            }
        }
        if (given.get("card") instanceof Map<?, ?> card) {
            return new Fetched(address, Json.write(card));
        }
        if (address == null && entry != null) {
            address = entry.resource().url();
        }
        if (address == null) {
            throw A2AException.invalidParams("card", "missing (expected: url, card or bytes)");
        }
        String group = caller.scope().group();
        return type(given, entry).equals(Entry.AGENT_CARD)
                ? fetch.card(group, address)
                : fetch.document(group, address);
    }

    private static String type(Map<String, @Nullable Object> given, @Nullable Entry entry) {
        return requireNonNullElse(
                text(given, "type"),
                entry == null ? Entry.AGENT_CARD : entry.resource().type());
    }

    private static Publication publication(
            Map<String, @Nullable Object> given, @Nullable Entry entry, Fetched document) {
        Visibility visibility = visibility(given);
        return new Publication(
                entry != null ? entry.id() : text(given, "id"),
                type(given, entry),
                document.bytes(),
                document.url(),
                text(given, "humanId"),
                requireNonNullElse(
                        visibility,
                        entry == null ? Visibility.GROUP : entry.ownership().visibility()),
                lease(given),
                texts(given, "refuse"),
                given.containsKey("metadata") || entry == null
                        ? members(given.get("metadata"))
                        : entry.resource().metadata());
    }

    private static @Nullable Duration lease(Map<String, @Nullable Object> given) {
        return given.get("lease") instanceof Number seconds ? Duration.ofSeconds(seconds.longValue()) : null;
    }

    private static @Nullable Visibility visibility(Map<String, @Nullable Object> given) {
        String word = text(given, "visibility");
        try {
            return word == null ? null : EntryModel.visibility(word);
        } catch (InvalidField unknown) {
            throw A2AException.invalidParams(unknown.field(), unknown.problem());
        }
    }

    private Object list(Map<String, @Nullable Object> given, CallContext caller) {
        Page page = entries.list(
                filter(given),
                requireNonNullElse(text(given, "order"), "name"),
                size(given),
                text(given, "pageToken"),
                caller);
        return json(page);
    }

    private static int size(Map<String, @Nullable Object> given) {
        return given.get("pageSize") instanceof Number size ? Math.max(1, size.intValue()) : DEFAULT_PAGE;
    }

    /** JSON of a page. */
    public static Map<String, Object> json(Page page) {
        var answer = new LinkedHashMap<String, Object>();
        answer.put("agents", page.entries().stream().map(EntryOperations::json).toList());
        if (page.next() != null) {
            answer.put("nextPageToken", page.next());
        }
        if (page.total() >= 0) {
            answer.put("total", page.total());
        }
        return answer;
    }

    /** The filter in the parameters of a list or a search. */
    public static Filter filter(Map<String, @Nullable Object> given) {
        var fields = new LinkedHashMap<String, List<String>>();
        for (String field : RegistryProtocol.FIELDS) {
            List<String> values = texts(given, field);
            if (!values.isEmpty()) {
                fields.put(field, values);
            }
        }
        for (String pair : texts(given, "metadata")) {
            int equals = pair.indexOf('=');
            if (equals < 1) {
                throw A2AException.invalidParams("metadata", pair + " (expected: NAME=VALUE)");
            }
            fields.computeIfAbsent("metadata." + pair.substring(0, equals), name -> new ArrayList<>())
                    .add(pair.substring(equals + 1));
        }
        return new Filter(texts(given, "skill"), texts(given, "tag"), fields, Boolean.TRUE.equals(given.get("hidden")));
    }

    /** The stored bytes of an entry, without a tree in between: look-ups are the most frequent calls. */
    private Object show(Map<String, @Nullable Object> given, CallContext caller) {
        Entry entry = entry(given, caller);
        List<String> alike = entries.lookAlikes(
                        Map.of(entry.id(), entry.resource().name()), caller)
                .get(entry.id());
        byte[] json = alike == null ? entries.json(id(given), caller) : Json.write(flagged(entry, alike));
        return new WireDocument(
                json,
                "application/a2a+json",
                HexFormat.of().formatHex(Sha256.of(json), 0, 16),
                () -> Json.read(json, Map.class));
    }

    private static Map<?, ?> flagged(Entry entry, List<String> alike) {
        var flagged = new LinkedHashMap<Object, Object>((Map<?, ?>) json(entry));
        flagged.put(RegistryProtocol.LOOK_ALIKES, alike);
        return flagged;
    }

    private Object card(Map<String, @Nullable Object> given, CallContext caller) {
        Document document = entries.document(id(given), number(given, "revision"), caller);
        return new WireDocument(document.bytes(), document.mediaType(), document.etag());
    }

    private static @Nullable Long number(Map<String, @Nullable Object> given, String name) {
        return given.get(name) instanceof Number number ? (Long) number.longValue() : null;
    }

    private Object delete(Map<String, @Nullable Object> given, CallContext caller) {
        return json(entries.change(id(given), "deleted", Map.of(), caller, EntryOperations::deleted));
    }

    private static Entry deleted(Entry entry) {
        if (entry.state().status().equals("revoked")) {
            throw A2AException.of(RegistryError.REFUSED_CHANGE, "entry " + entry.id() + ": revoked");
        }
        return entry.with(entry.state().with("deleted"));
    }

    private Object restore(Map<String, @Nullable Object> given, CallContext caller) {
        return json(entries.change(
                id(given),
                "changed",
                Map.of("restored", true),
                caller,
                entry -> entry.state().status().equals("deleted")
                                && !entry.resource().digest().isEmpty()
                        ? entry.with(entry.state().with("active"))
                        : entry));
    }

    private Object update(Map<String, @Nullable Object> given, CallContext caller) {
        Visibility visibility = visibility(given);
        String status = text(given, "status");
        if (status != null && !status.equals("active") && !status.equals("deprecated")) {
            throw A2AException.invalidParams("status", status + " (expected: active or deprecated)");
        }
        var details = new LinkedHashMap<String, Object>();
        String reason = text(given, "reason");
        if (reason != null) {
            details.put("reason", limited("reason", reason));
        }
        Map<String, Object> metadata = members(given.get("metadata"));
        Secrets.refuse(metadata);
        return json(entries.change(
                id(given), "deprecated".equals(status) ? "deprecated" : "changed", details, caller, entry -> {
                    Ownership owner = entry.ownership();
                    Entry changed = new Entry(
                            entry.id(),
                            CardReader.with(
                                    entry.resource(),
                                    given.containsKey("humanId")
                                            ? text(given, "humanId")
                                            : entry.resource().humanId(),
                                    given.containsKey("metadata")
                                            ? CardReader.metadata(Map.of(), metadata)
                                            : entry.resource().metadata()),
                            new Ownership(
                                    owner.group(),
                                    owner.principal(),
                                    requireNonNullElse(visibility, owner.visibility())),
                            entry.trust(),
                            entry.health(),
                            entry.state());
                    boolean isShown = !List.of("deleted", "revoked")
                            .contains(entry.state().status());
                    return status != null && isShown
                            ? changed.with(changed.state().with(status))
                            : changed;
                }));
    }

    private static String limited(String name, String text) {
        if (text.length() > MAX_TEXT) {
            throw A2AException.invalidParams(name, text.length() + " characters (expected: at most " + MAX_TEXT + ")");
        }
        return text;
    }

    private Object renew(Map<String, @Nullable Object> given, CallContext caller) {
        return json(entries.renew(id(given), lease(given), caller));
    }

    private Object transfer(Map<String, @Nullable Object> given, CallContext caller) {
        String principal = String.valueOf(given.get("principal"));
        String group = requireNonNullElse(text(given, "group"), caller.scope().group());
        if (principal.isBlank() || principal.equals(Entry.HUB) || group.startsWith("*")) {
            throw A2AException.invalidParams("principal", principal + " (expected: a principal of a group)");
        }
        return json(entries.change(
                id(given),
                "transferred",
                Map.of("group", group, "owner", principal),
                caller,
                entry -> new Entry(
                        entry.id(),
                        entry.resource(),
                        new Ownership(group, principal, entry.ownership().visibility()),
                        entry.trust(),
                        entry.health(),
                        entry.state())));
    }

    private Object versions(Map<String, @Nullable Object> given, CallContext caller) {
        return Map.of(
                "versions",
                entries.history().list(entries.whole(id(given), caller).number()));
    }

    private Object diff(Map<String, @Nullable Object> given, CallContext caller) {
        return entries.history()
                .diff(entries.whole(id(given), caller).number(), number(given, "from"), number(given, "to"));
    }

    private Object review(Map<String, @Nullable Object> given, String kind, CallContext caller) {
        long stars = given.get("stars") instanceof Number number ? number.longValue() : 0;
        String text = limited("text", requireNonNullElse(text(given, "text"), ""));
        entries.review(id(given), kind, stars, kind.equals(Reviews.REVIEW) && stars == 0 ? "" : text, caller);
        return entries.reviews().list(entries.require(id(given), caller).number(), caller);
    }

    private Object changes(Map<String, @Nullable Object> given, CallContext caller) {
        long after = requireNonNullElse(number(given, "after"), 0L);
        Batch batch = entries.changesOnce(after, filter(given), size(given), caller);
        var answer = new LinkedHashMap<String, Object>();
        answer.put(
                "changes", batch.changes().stream().map(EntryOperations::json).toList());
        answer.put("next", batch.last());
        return answer;
    }

    /** Changes as they come, in JSON. */
    public static Feed<Map<String, Object>> watch(StoredEntries entries, WatchChanges watch, CallContext caller) {
        long after = watch.after() < 0 ? entries.newest() : watch.after();
        return entries.changes(after, filter(watch.filter()), caller).as(EntryOperations::json);
    }

    /** JSON of a change. */
    public static Map<String, Object> json(Change change) {
        var json = new LinkedHashMap<String, Object>();
        json.put("number", change.number());
        json.put("time", change.time().toString());
        json.put("kind", change.kind());
        json.put("id", change.now().id());
        if (!change.details().isEmpty()) {
            json.put("details", change.details());
        }
        json.put("entry", json(change.now()));
        return json;
    }

    private Object export(Map<String, @Nullable Object> given, CallContext caller) {
        Page page = entries.listForExport(filter(given), size(given), text(given, "pageToken"), caller);
        var answer = new LinkedHashMap<String, Object>();
        answer.put(
                "entries",
                page.entries().stream()
                        .map(entry -> Map.of(
                                "entry",
                                json(entry),
                                "document",
                                Base64.getEncoder()
                                        .encodeToString(
                                                entries.document(entry, caller).bytes())))
                        .toList());
        if (page.next() != null) {
            answer.put("nextPageToken", page.next());
        }
        return answer;
    }

    /** Publishes exported entries for the caller. An entry that is refused does not stop the others. */
    private Object imported(Map<String, @Nullable Object> given, CallContext caller) {
        List<?> all = given.get("export") instanceof Map<?, ?> export && export.get("entries") instanceof List<?> list
                ? list
                : List.of();
        if (all.isEmpty() || all.size() > RegistryProtocol.MAX_PAGE) {
            throw A2AException.invalidParams(
                    "entries", all.size() + " (expected: 1 to " + RegistryProtocol.MAX_PAGE + " exported entries)");
        }
        var permits = new Semaphore(IMPORTS_AT_ONCE);
        var results = new ArrayList<Future<Map<String, Object>>>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Object each : all) {
                results.add(threads.submit(() -> {
                    permits.acquire();
                    try {
                        return Map.of("id", imported(each, caller).id());
                    } catch (A2AException refused) {
                        return Map.of("problem", String.valueOf(refused.getMessage()));
                    } finally {
                        permits.release();
                    }
                }));
            }
        }
        return Map.of("results", results.stream().map(Future::resultNow).toList());
    }

    private Entry imported(@Nullable Object exported, CallContext caller) {
        if (!(exported instanceof Map<?, ?> both
                && both.get("entry") instanceof Map<?, ?> json
                && both.get("document") instanceof String document)) {
            throw A2AException.invalidParams("entries", "expected: objects with entry and document");
        }
        Entry entry;
        byte[] bytes;
        try {
            entry = EntryModel.ENTRY.fromJson(json);
            bytes = Base64.getDecoder().decode(document);
        } catch (IllegalArgumentException none) {
            throw A2AException.invalidParams("document", "no base64 (expected: the bytes of a document)");
        }
        var given = new Publication(
                entry.id(),
                entry.resource().type(),
                bytes,
                entry.resource().url(),
                entry.resource().humanId(),
                entry.ownership().visibility(),
                null,
                List.of(),
                entry.resource().metadata());
        entries.refuseAnother(given, caller);
        return entries.publish(given, caller);
    }

    private static @Nullable String text(Map<String, @Nullable Object> given, String name) {
        return given.get(name) instanceof String text && !text.isBlank() ? text : null;
    }

    private static List<String> texts(Map<String, @Nullable Object> given, String name) {
        return switch (given.get(name)) {
            case List<?> list -> list.stream().map(String::valueOf).toList();
            case String one -> List.of(one); // of a query that is not described
            case null, default -> List.of();
        };
    }

    private static Map<String, Object> members(@Nullable Object json) {
        var members = new LinkedHashMap<String, Object>();
        if (json instanceof Map<?, ?> map) {
            map.forEach((name, value) -> {
                if (value != null) {
                    members.put(String.valueOf(name), value);
                }
            });
        }
        return members;
    }
}
