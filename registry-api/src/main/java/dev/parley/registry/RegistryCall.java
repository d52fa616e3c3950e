package dev.parley.registry;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.JsonForm;
import dev.parley.protocol.json.ObjectCodec;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * An operation of a registry: a record with its {@link Named name}.
 *
 * @param <A> its answer
 */
public interface RegistryCall<A> extends Operation.ExtensionCall<A> {
    /** Names an operation of a registry. */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @interface Named {
        /** Name on the wire, such as {@code registry/register}. */
        String value();
    }

    @Override
    default String name() {
        return nameOf(getClass());
    }

    private static String nameOf(Class<?> type) {
        return requireNonNull(type.getAnnotation(Named.class), type.getName()).value();
    }

    /**
     * A row, whose parameters and answer their shapes describe. It refuses parameters that it does not have.
     *
     * @param place method and path below the agent, such as {@code POST /agents}
     */
    static <A, O extends RegistryCall<A>> ExtensionMethod<O, A> row(
            Class<O> type, String place, String summary, ObjectCodec<O> request, JsonForm<A> answer) {
        return ExtensionMethod.call(nameOf(type), type, request.strict(), answer)
                .rest(place)
                .described(summary);
    }
}
