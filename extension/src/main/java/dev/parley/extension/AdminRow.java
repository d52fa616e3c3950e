package dev.parley.extension;

import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.JsonForm;
import dev.parley.protocol.json.ObjectCodec;

/** Rows of the administration of a hub. */
public final class AdminRow {
    /** Path of all operations, below the address of the hub. */
    public static final String PATH = "/admin";

    private static final String PREFIX = "admin/";

    private static final String REPORTS = "/reports/";

    private AdminRow() {}

    /**
     * True for a path below {@value #PATH} whose operations administrators of a group may call, too. Their handlers limit them to the
     * group of the caller.
     */
    public static boolean isOfGroups(String path) {
        return path.startsWith(REPORTS);
    }

    /** Name of an operation in policies, metrics, traces and the audit. */
    public static String fullName(String name) {
        return PREFIX + name;
    }

    /** The name of an operation, without its prefix. */
    static String named(Class<?> type) {
        AdminCall.Named named = type.getAnnotation(AdminCall.Named.class);
        if (named == null) {
            throw new IllegalStateException(type.getName() + " (expected: a class with @AdminCall.Named)");
        }
        return named.value();
    }

    /** {@link #of(String, Class, String, String, Shape, JsonForm)} by the name that the class of the operation has. */
    public static <A, O extends AdminCall<A>> ExtensionMethod<O, A> of(
            Class<O> type, String place, String summary, ObjectCodec<O> request, JsonForm<A> answer) {
        return of(named(type), type, place, summary, request, answer);
    }

    /**
     * A row, whose parameters and answer their shapes describe. It refuses parameters that it does not have.
     *
     * @param name without its prefix, such as {@code keys/create}
     * @param place method and path below {@value #PATH}, such as {@code POST /keys}
     */
    public static <A, O extends Operation.ExtensionCall<A>> ExtensionMethod<O, A> of(
            String name, Class<O> type, String place, String summary, ObjectCodec<O> request, JsonForm<A> answer) {
        return ExtensionMethod.call(fullName(name), type, request.strict(), answer)
                .rest(place.replace(" ", " " + PATH))
                .described(summary);
    }
}
