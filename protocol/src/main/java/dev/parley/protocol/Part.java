package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Lists;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A piece of content: text, bytes, a reference to bytes, or structured data.
 *
 * <p>Every kind may carry a file name, a media type and metadata; none of these tells the kind.
 *
 * <p>Source: A2A specification 1.0, section 4.1.6 "Part".
 */
public sealed interface Part {
    /** The name of the file that this part is, if it is one. */
    @Nullable
    String filename();

    /** The media type of the content, such as {@code text/csv}. */
    @Nullable
    String mediaType();

    /** Free data about the part. */
    Map<String, @Nullable Object> metadata();

    /** Text; may be empty. */
    record Text(
            String text,
            @Nullable String filename,
            @Nullable String mediaType,
            Map<String, @Nullable Object> metadata) implements Part {
        public Text {
            requireNonNull(text, "text");
            metadata = Lists.copy(metadata);
        }
    }

    /** Inline bytes. The array is not copied; neither the creator nor a reader may write to it. */
    record Raw(
            byte[] raw, @Nullable String filename, @Nullable String mediaType, Map<String, @Nullable Object> metadata)
            implements Part {
        public Raw {
            requireNonNull(raw, "raw");
            metadata = Lists.copy(metadata);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Raw that
                    && Arrays.equals(raw, that.raw)
                    && Objects.equals(filename, that.filename)
                    && Objects.equals(mediaType, that.mediaType)
                    && metadata.equals(that.metadata);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(raw);
        }

        @Override
        public String toString() {
            return "Raw[" + raw.length + " bytes, filename=" + filename + ", mediaType=" + mediaType + "]";
        }
    }

    /** URL of the bytes. */
    record Url(
            String url, @Nullable String filename, @Nullable String mediaType, Map<String, @Nullable Object> metadata)
            implements Part {
        public Url {
            requireNonNull(url, "url");
            metadata = Lists.copy(metadata);
        }
    }

    /** Any JSON value: a map, list, string, number, boolean, or null, which is a value here and not an absence. */
    record Data(
            @Nullable Object data,
            @Nullable String filename,
            @Nullable String mediaType,
            Map<String, @Nullable Object> metadata)
            implements Part {
        public Data {
            metadata = Lists.copy(metadata);
        }
    }

    static Part text(String text) {
        return new Text(text, null, null, Map.of());
    }

    /** A file by its bytes. */
    static Part file(String filename, String mediaType, byte[] bytes) {
        return new Raw(bytes, filename, mediaType, Map.of());
    }

    /** A file by its address. */
    static Part link(String url, @Nullable String filename, @Nullable String mediaType) {
        return new Url(url, filename, mediaType, Map.of());
    }

    /** Structured data: maps, lists, strings, numbers, booleans, null. */
    static Part data(@Nullable Object value) {
        return new Data(value, null, null, Map.of());
    }
}
