package dev.parley.registry.client;

import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.Shape;
import dev.parley.registry.SearchOperation;
import dev.parley.registry.SearchOperation.Reasons;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Answer to a search over ARD, in which results of peers are as their registries have them.
 *
 * @param peers outcome of each peer
 */
record SearchAnswer(List<Result> results, List<PeerOutcome> peers) {
    /**
     * An entry of ARD with its score.
     *
     * @param score 0 to 100
     * @param why what the search matched, as the source says; null if it does not
     * @param url address of the document; null if the result has none
     * @param card the document; null if the result has none
     * @param others further members
     */
    record Result(
            String identifier,
            String name,
            int score,
            String source,
            @Nullable Object why,
            @Nullable String url,
            @Nullable Map<String, @Nullable Object> card,
            Map<String, @Nullable Object> others) {
        /** Reasons in the form of Parley; null for none or another form. */
        @Nullable
        Reasons reasons() {
            try {
                return why == null ? null : SearchOperation.REASONS.fromJson(why);
            } catch (A2AException foreign) {
                return null;
            }
        }
    }

    static final Codec<Result> RESULT = Shape.<Result>of()
            .required("identifier", TEXT, Result::identifier)
            .always("displayName", TEXT, "", Result::name)
            .always("score", Codecs.via(FREE, SearchAnswer::score, score -> score), 0, Result::score)
            .always("source", TEXT, "", Result::source)
            .optional("parley:why", FREE, Result::why)
            .optional("url", TEXT, Result::url)
            .optional("data", STRUCT, Result::card)
            .others(Result::others, Set.of())
            .as(v -> new Result(
                    v.next(), v.next(), v.<Integer>next(), v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<SearchAnswer> ANSWER = Shape.<SearchAnswer>of()
            .optional("results", Codecs.list(RESULT), List.of(), SearchAnswer::results)
            .optional("parley:peers", Codecs.list(PeerOutcome.JSON), List.of(), SearchAnswer::peers)
            .as(v -> new SearchAnswer(v.next(), v.next()));

    static SearchAnswer read(byte[] json) {
        return JsonText.read(json, ANSWER);
    }

    private static Integer score(Object json) {
        return json instanceof Number number ? number.intValue() : 0;
    }
}
