package dev.parley.protocol.json;

import dev.parley.protocol.InvalidField;
import dev.parley.protocol.extension.JsonForm;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/** Codec of a form that is read from and written to maps and lists, as extensions of others bring it. */
public record TreeCodec<T>(JsonForm<T> form) implements Codec<T> {
    /** The codec of a form; the form itself if it is one. */
    public static <T> Codec<T> of(JsonForm<T> form) {
        return form instanceof Codec<T> codec ? codec : new TreeCodec<>(form);
    }

    /** Reads a value of its tree. */
    static <T> T ofTree(Codec<T> codec, @Nullable Object tree) {
        return JsonText.read(JsonText.write(Codecs.FREE, tree == null ? Codecs.NULL : tree), codec);
    }

    /** Returns the tree of a value. */
    static <T> @Nullable Object toTree(Codec<T> codec, T value) {
        Object tree = JsonText.read(JsonText.write(codec, value), Codecs.FREE);
        return Codecs.NULL.equals(tree) ? null : tree;
    }

    @Override
    public String expected() {
        return "a value";
    }

    @Override
    public @Nullable T read(JsonParser in) {
        Object tree = Codecs.FREE.read(in);
        return read(in, Codecs.NULL.equals(tree) ? null : tree);
    }

    /** Reads a value of which the parser has read the tree. */
    public T read(@Nullable JsonParser in, @Nullable Object tree) {
        try {
            return form.fromJson(tree);
        } catch (InvalidField invalid) {
            throw FieldPath.fault(in, invalid.field(), invalid.problem());
        }
    }

    @Override
    public void write(JsonGenerator out, T value) {
        Object tree = form.toJson(value);
        Codecs.FREE.write(out, tree == null ? Codecs.NULL : tree);
    }

    @Override
    public boolean readsNull() {
        return true;
    }
}
