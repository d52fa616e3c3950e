package dev.parley.extension;

import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.RestDescription;
import dev.parley.protocol.extension.RestParameter;
import java.util.List;
import java.util.Map;

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

    /**
     * A row.
     *
     * @param name without its prefix, such as {@code keys/create}
     * @param place method and path below {@value #PATH}, such as {@code POST /keys}
     * @param answer its JSON Schema, for instance of {@link AnswerSchema}
     */
    public static ExtensionMethod<?, ?> of(
            String name, String place, String summary, Map<String, Object> answer, RestParameter... parameters) {
        return ExtensionMethod.described(
                fullName(name),
                place.replace(" ", " " + PATH),
                new RestDescription(summary, List.of(parameters), answer).strict());
    }
}
