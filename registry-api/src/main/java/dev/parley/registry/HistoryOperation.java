package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.POSITION;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;
import static dev.parley.registry.EntryModel.ENTRY;

import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operations on versions of documents and on the log of changes: their requests, their answers, and a row for each. */
public final class HistoryOperation {
    private static final String WATCH_NAME = "registry/changes/watch";

    private HistoryOperation() {}

    @RegistryCall.Named("registry/versions")
    public record ListVersions(String id) implements RegistryCall<List<Version>> {}

    /**
     * A version of a document.
     *
     * @param changes since the version before
     */
    public record Version(int revision, Instant time, String principal, List<Difference> changes) {}

    /**
     * Compares two versions.
     *
     * @param from null for the one before {@code to}
     * @param to null for the newest
     */
    @RegistryCall.Named("registry/diff")
    public record CompareVersions(
            String id, @Nullable Long from, @Nullable Long to) implements RegistryCall<Comparison> {}

    /** The worst kind among differences. */
    public enum Verdict {
        BREAKING,
        TRUST,
        SAFE,
        /** There is no difference. */
        SAME;

        /** @param differences the worst first */
        public static Verdict of(List<Difference> differences) {
            return differences.isEmpty()
                    ? SAME
                    : valueOf(differences.getFirst().kind().name());
        }
    }

    /** @param changes the worst first */
    public record Comparison(int from, int to, Verdict verdict, List<Difference> changes) {}

    /** @param after number of the last change that the caller has */
    @RegistryCall.Named("registry/changes")
    public record ListChanges(EntryFilter filter, @Nullable Long pageSize, long after)
            implements RegistryCall<ChangePage> {}

    /**
     * Watches changes.
     *
     * @param after number of the last change that the caller has; null for new ones only
     */
    public record WatchChanges(EntryFilter filter, @Nullable Long after)
            implements Operation.ExtensionWatch<EntryChange> {
        @Override
        public String name() {
            return WATCH_NAME;
        }
    }

    /** @param next number of the last change that was looked at */
    public record ChangePage(List<EntryChange> changes, long next) {}

    private static final Codec<Version> VERSION = ObjectCodec.<Version>of()
            .required("revision", INT, Version::revision)
            .required("time", TIME, Version::time)
            .required("principal", TEXT, Version::principal)
            .required("changes", Codecs.list(Difference.JSON), Version::changes)
            .as(v -> new Version(v.<Integer>next(), v.next(), v.next(), v.next()));

    private static final Codec<Comparison> COMPARISON = ObjectCodec.<Comparison>of()
            .required("from", INT, Comparison::from)
            .required("to", INT, Comparison::to)
            .required("verdict", Codecs.words(Verdict.class), Comparison::verdict)
            .required("changes", Codecs.list(Difference.JSON), Comparison::changes)
            .as(v -> new Comparison(v.<Integer>next(), v.<Integer>next(), v.next(), v.next()));

    private static final Codec<EntryChange> CHANGE = ObjectCodec.<EntryChange>of()
            .named("RegistryChange")
            .required("number", COUNT, EntryChange::number)
            .required("time", TIME, EntryChange::time)
            .required("kind", Codecs.words(EntryChange.Kind.class, EntryChange.Kind.CHANGED), EntryChange::kind)
            .required("id", TEXT, change -> change.now().id())
            .optional("details", STRUCT, Map.of(), EntryChange::details)
            .required("entry", ENTRY, EntryChange::now)
            .as(v ->
                    new EntryChange(v.<Long>next(), v.next(), v.next(), v.skip().next(), v.next()));

    public static final ExtensionMethod<ListVersions, List<Version>> VERSIONS = RegistryCall.row(
            ListVersions.class,
            "GET /agents/{id}/versions",
            "List versions, with the kinds of their changes",
            EntryOperation.ofEntry(ListVersions::id).as(v -> new ListVersions(v.next())),
            ObjectCodec.list("versions", VERSION));

    public static final ExtensionMethod<CompareVersions, Comparison> DIFF = RegistryCall.row(
            CompareVersions.class,
            "GET /agents/{id}/diff",
            "Compare two versions: breaking, safe and trust changes",
            EntryOperation.ofEntry(CompareVersions::id)
                    .optional("from", COUNT, CompareVersions::from)
                    .help("NUMBER", "The older version; default the one before.")
                    .optional("to", COUNT, CompareVersions::to)
                    .help("NUMBER", "The newer version; default the newest.")
                    .as(v -> new CompareVersions(v.next(), v.next(), v.next())),
            COMPARISON);

    public static final ExtensionMethod<ListChanges, ChangePage> CHANGES = RegistryCall.row(
            ListChanges.class,
            "GET /changes",
            "List changes, the oldest first",
            EntryOperation.page(EntryFilter.shape(ListChanges::filter), ListChanges::pageSize, request -> null)
                    .optional("after", COUNT, 0L, ListChanges::after)
                    .help("NUMBER", "Number of the last change that is known.")
                    .as(v -> new ListChanges(
                            EntryFilter.read(v), v.next(), v.skip().<Long>next())),
            ObjectCodec.<ChangePage>of()
                    .required("changes", Codecs.list(CHANGE), ChangePage::changes)
                    .required("next", COUNT, ChangePage::next)
                    .as(v -> new ChangePage(v.next(), v.<Long>next())));

    public static final ExtensionMethod<WatchChanges, EntryChange> WATCH = ExtensionMethod.stream(
                    WATCH_NAME,
                    WatchChanges.class,
                    EntryFilter.shape(WatchChanges::filter)
                            .optional("pageSize", POSITION, request -> null)
                            .help("COUNT", "Ignored: a stream has no pages.")
                            .optional("pageToken", TEXT, request -> null)
                            .help("TOKEN", "Ignored: a stream has no pages.")
                            .optional("after", POSITION, WatchChanges::after)
                            .help("NUMBER", "Number of the last change that is known.")
                            .as(v -> new WatchChanges(
                                    EntryFilter.read(v), v.skip().skip().next()))
                            .strict(),
                    CHANGE)
            .rest("GET /changes")
            .resumable(
                    change -> String.valueOf(change.number()),
                    (watch, id) -> new WatchChanges(watch.filter(), number(id)));

    /** The number of a change in a position of a stream; 0, before all changes, for a position of another registry. */
    private static long number(String position) {
        try {
            return Math.max(0, Long.parseLong(position));
        } catch (NumberFormatException foreign) {
            return 0;
        }
    }

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(VERSIONS, DIFF, CHANGES, WATCH);
}
