package dev.parley.command;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Writes results to standard output and all other lines to standard error. Safe for any thread. */
public interface CommandOutput {
    /** True if the caller wants JSON. */
    boolean isJson();

    /** One result, in the format that the caller wants. */
    void result(Supplier<byte[]> json, Consumer<Fields> text);

    /** Lines of text, a table or JSON, in which characters that control a terminal are escaped. */
    void print(String text);

    /** One line, in which control characters are escaped. */
    void line(String text);

    /** JSON laid out for people. */
    void layout(@Nullable Object json);

    /** A diagnostic line. */
    void note(String text);

    /** A line that overwrites itself, at a terminal only. */
    void progress(String text);

    /** A result as text. Control characters of values are escaped. */
    interface Fields {
        /** One line; none if {@code value} is null. */
        Fields field(String label, @Nullable Object value);

        /** Several lines. */
        Fields block(String label, String content);

        /** JSON laid out for people, as a block. */
        Fields layout(String label, @Nullable Object json);

        /** A blank line between groups of fields. */
        Fields gap();
    }
}
