package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.DOUBLE;
import static dev.parley.protocol.json.Codecs.INT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static dev.parley.protocol.json.Codecs.TRUTH;
import static dev.parley.registry.EntryModel.ENTRY;

import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Search by words: requests, answers, and a row for each operation. */
public final class SearchOperation {
    private SearchOperation() {}

    /** Ranks entries for words. */
    @RegistryCall.Named("registry/search")
    public record SearchEntries(
            SearchQuery query,
            @Nullable Long pageSize,
            @Nullable String pageToken) implements RegistryCall<FoundPage> {}

    /**
     * A page of results.
     *
     * @param next token of the next page; null on the last one
     */
    public record FoundPage(
            List<FoundEntry> results, @Nullable String next) {}

    /**
     * A found entry.
     *
     * @param score 0 to 100, in the order of the results; it says how well words match, not how good the agent is
     */
    public record FoundEntry(int score, Reasons why, Entry agent) {}

    /** Means by which a search finds an entry. */
    public enum Means {
        WORDS,
        MEANING
    }

    /**
     * Reasons of a result.
     *
     * @param lists that have the entry
     * @param fields with the words of the query that they have
     * @param skill id of the skill that matches best; null for the entry as a whole
     * @param missing words of the query that no field has
     * @param factors of the score, by what lowers it
     */
    public record Reasons(
            List<Means> lists,
            Map<String, List<String>> fields,
            @Nullable String skill,
            List<String> missing,
            Map<String, Double> factors) {
        /** Reasons of results of a search without reasons. */
        public static final Reasons NONE = new Reasons(List.of(), Map.of(), null, List.of(), Map.of());
    }

    /**
     * Counts the values of fields over all entries that a search finds.
     *
     * @param fields to count
     * @param limit of the values of a field; null for 20
     */
    @RegistryCall.Named("registry/facets")
    public record CountFacets(
            SearchQuery query,
            List<String> fields,
            @Nullable Long limit) implements RegistryCall<Facets> {}

    /** @param total number of the entries that match */
    public record Facets(long total, Map<String, Facet> facets) {}

    /**
     * Values of a field.
     *
     * @param buckets the most frequent first
     * @param others number of further values
     */
    public record Facet(List<Bucket> buckets, int others) {}

    /** @param count number of the entries with the value */
    public record Bucket(String value, long count) {}

    /** JSON of reasons, also in results of ARD. */
    public static final Codec<Reasons> REASONS = ObjectCodec.<Reasons>of()
            .always("lists", Codecs.list(Codecs.words(Means.class)), List.of(), Reasons::lists)
            .always("fields", Codecs.map(TEXTS), Map.of(), Reasons::fields)
            .optional("skill", TEXT, Reasons::skill)
            .optional("missing", TEXTS, List.of(), Reasons::missing)
            .optional("factors", Codecs.map(DOUBLE), Map.of(), Reasons::factors)
            .as(v -> new Reasons(v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<FoundEntry> FOUND = ObjectCodec.<FoundEntry>of()
            .required("score", INT, FoundEntry::score)
            .required("why", REASONS, FoundEntry::why)
            .required("agent", ENTRY, FoundEntry::agent)
            .as(v -> new FoundEntry(v.<Integer>next(), v.next(), v.next()));

    private static final Codec<Bucket> BUCKET = ObjectCodec.<Bucket>of()
            .required("value", TEXT, Bucket::value)
            .required("count", COUNT, Bucket::count)
            .as(v -> new Bucket(v.next(), v.<Long>next()));

    private static final Codec<Facet> FACET = ObjectCodec.<Facet>of()
            .required("buckets", Codecs.list(BUCKET), Facet::buckets)
            .required("others", INT, Facet::others)
            .as(v -> new Facet(v.next(), v.<Integer>next()));

    private static <T> ObjectCodec.Builder<T> query(ObjectCodec.Builder<T> shape, Function<T, SearchQuery> of) {
        return shape.optional("q", TEXT, "", request -> of.apply(request).text())
                .help("WORDS", "Words to search for, in any order.")
                .optional("typing", TRUTH, false, request -> of.apply(request).isTyping())
                .help("", "The last word is the begin of one.");
    }

    private static SearchQuery query(EntryFilter filter, ObjectCodec.Values v) {
        return new SearchQuery(v.next(), v.<Boolean>next(), filter);
    }

    public static final ExtensionMethod<SearchEntries, FoundPage> SEARCH = RegistryCall.row(
            SearchEntries.class,
            "GET /search",
            "Rank entries for words, with score and reasons",
            query(
                            EntryOperation.page(
                                    EntryFilter.shape((SearchEntries search) ->
                                            search.query().filter()),
                                    SearchEntries::pageSize,
                                    SearchEntries::pageToken),
                            SearchEntries::query)
                    .as(v -> {
                        EntryFilter filter = EntryFilter.read(v);
                        Long size = v.next();
                        String token = v.next();
                        return new SearchEntries(query(filter, v), size, token);
                    }),
            ObjectCodec.<FoundPage>of()
                    .required("results", Codecs.list(FOUND), FoundPage::results)
                    .optional("nextPageToken", TEXT, FoundPage::next)
                    .as(v -> new FoundPage(v.next(), v.next())));

    public static final ExtensionMethod<CountFacets, Facets> FACETS = RegistryCall.row(
            CountFacets.class,
            "GET /facets",
            "Count the values of fields over all entries that a search finds",
            query(
                            EntryOperation.page(
                                    EntryFilter.shape(
                                            (CountFacets count) -> count.query().filter()),
                                    request -> null,
                                    request -> null),
                            CountFacets::query)
                    .optional("facet", TEXTS, List.of("tag"), CountFacets::fields)
                    .help("FIELD", "Field to count, such as tag; repeatable.")
                    .optional("limit", Codecs.number(0, EntryFilter.MAX_PAGE), CountFacets::limit)
                    .help("COUNT", "Limit of the values of a field; default 20.")
                    .as(v -> {
                        EntryFilter filter = EntryFilter.read(v);
                        return new CountFacets(query(filter, v.skip().skip()), v.next(), v.next());
                    }),
            ObjectCodec.<Facets>of()
                    .required("total", COUNT, Facets::total)
                    .required("facets", Codecs.map(FACET), Facets::facets)
                    .as(v -> new Facets(v.<Long>next(), v.next())));

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(SEARCH, FACETS);
}
