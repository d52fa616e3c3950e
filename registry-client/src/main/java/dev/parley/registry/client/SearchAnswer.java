package dev.parley.registry.client;

import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.registry.SearchOperation;
import dev.parley.registry.SearchOperation.Reasons;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Answer to a search over ARD. Results of peers are as their registries have them: one that cannot be read is left out, and the others stay.
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
     * @param json the result as it was answered
     */
    record Result(
            String identifier,
            String name,
            int score,
            String source,
            @Nullable Object why,
            @Nullable String url,
            @Nullable Map<String, @Nullable Object> card,
            byte[] json) {
        Result with(byte[] other) {
            return new Result(identifier, name, score, source, why, url, card, other);
        }

        /** Reasons in the form of Parley; null for none or another form. */
        @Nullable
        Reasons reasons() {
            return why == null ? null : readable(SearchOperation.REASONS, why);
        }
    }

    private static final Codec<Result> RESULT = ObjectCodec.<Result>of()
            .required("identifier", TEXT, Result::identifier)
            .optional("displayName", TEXT, "", Result::name)
            .optional("score", Codecs.via(FREE, SearchAnswer::score, score -> score), 0, Result::score)
            .optional("source", TEXT, "", Result::source)
            .optional("parley:why", FREE, Result::why)
            .optional("url", TEXT, Result::url)
            .optional("data", STRUCT, Result::card)
            .as(v -> new Result(
                    v.next(), v.next(), v.<Integer>next(), v.next(), v.next(), v.next(), v.next(), new byte[0]));

    private static final Codec<List<Object>> ANY = Codecs.list(FREE);

    private static final Codec<SearchAnswer> ANSWER = ObjectCodec.<SearchAnswer>of()
            .optional("results", ANY, List.of(), answer -> List.of())
            .optional("parley:peers", ANY, List.of(), answer -> List.of())
            .as(v -> new SearchAnswer(results(v.next()), peers(v.next())));

    static SearchAnswer read(byte[] json) {
        return JsonText.read(json, ANSWER);
    }

    private static List<Result> results(List<Object> all) {
        return all.stream()
                .map(each -> {
                    Result result = readable(RESULT, each);
                    return result == null ? null : result.with(Json.write(each));
                })
                .filter(Objects::nonNull)
                .toList();
    }

    private static List<PeerOutcome> peers(List<Object> all) {
        return all.stream()
                .map(each -> readable(PeerOutcome.JSON, each))
                .filter(Objects::nonNull)
                .toList();
    }

    /** A value; null if its JSON is not one. */
    private static <T> @Nullable T readable(Codec<T> codec, Object json) {
        try {
            return codec.fromJson(json);
        } catch (A2AException foreign) {
            return null;
        }
    }

    private static Integer score(Object json) {
        return json instanceof Number number ? number.intValue() : 0;
    }
}
