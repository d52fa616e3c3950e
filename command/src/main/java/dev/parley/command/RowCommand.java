package dev.parley.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.A2AException.Violation;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** A command that calls an operation of an extension. Arguments, options and help are derived from the row of the operation. */
public class RowCommand implements ProgramCommand {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String HELP = "the same command with --help lists its arguments and options";

    private final ExtensionMethod<?, ?> row;

    /** @param row with a description */
    public RowCommand(ExtensionMethod<?, ?> row) {
        requireNonNull(row.description(), row.name());
        this.row = row;
    }

    /**
     * A group with a command for each operation of an extension that is described. Its name is the last part of the extension's URI before
     * the version; the commands have the names of the operations, without that name and with hyphens for slashes.
     */
    public static CommandEntry group(ExtensionProtocol protocol) {
        String group = protocol.uri().replaceFirst("/v[\\d.]+/?$", "").replaceFirst("^.*[/:]", "");
        CommandEntry[] commands = protocol.methods().stream()
                .filter(row -> row.description() != null)
                .map(row -> CommandEntry.of(
                        name(row, group), requireNonNull(row.description()).summary(), () -> new RowCommand(row) {
                            @Override
                            public List<ExtensionProtocol> protocols() {
                                return List.of(protocol);
                            }
                        }))
                .toArray(CommandEntry[]::new);
        return CommandEntry.group(group, "Call the operations of the extension " + protocol.uri(), commands);
    }

    /** Name of the command of an operation in a group. */
    public static String name(ExtensionMethod<?, ?> row, String group) {
        String name = row.name();
        return (name.startsWith(group + "/") ? name.substring(group.length() + 1) : name).replace('/', '-');
    }

    /** Row of the operation. */
    public ExtensionMethod<?, ?> row() {
        return row;
    }

    /** Parameters of the operation that a command line carries, with flags of words. */
    protected List<RestParameter> parameters() {
        return requireNonNull(row.description()).parameters().stream()
                .map(one -> one.flag(one.flag().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT)))
                .toList();
    }

    /** Adds the parameters, whose help ends with their types. */
    @Override
    public void describe(CommandSpec spec) {
        RowParameters.describe(
                spec, parameters().stream().map(RowCommand::withType).toList());
    }

    private static RestParameter withType(RestParameter one) {
        String needed = one.required() && !one.flag().isEmpty() ? "; required" : "";
        String type = one.type() == Type.TRUTH ? "" : " Type: " + RowParameters.expected(one) + needed + ".";
        String description = (one.description() + type).replace("%", "%%");
        return new RestParameter(
                one.name(),
                one.place(),
                one.type(),
                one.required(),
                description,
                one.label(),
                one.flag(),
                one.schema());
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        return run(call, row, values(call));
    }

    private <O extends Operation.Extension, A> int run(
            CommandCall call, ExtensionMethod<O, A> row, Map<String, Object> values) throws InterruptedException {
        O operation = operation(call, row, values);
        return call.connect(agent -> {
            if (row.streams()) {
                @SuppressWarnings("unchecked") // a row with a stream has the watch of one
                var watch = (Operation.ExtensionWatch<A>) operation;
                try (Feed<A> feed = agent.watch(watch, CallContext.anonymous())) {
                    for (List<A> next = feed.next(PATIENCE); next != null; next = feed.next(PATIENCE)) {
                        next.forEach(element -> show(call, row.answer().toJson(element), true));
                    }
                }
            } else {
                @SuppressWarnings("unchecked") // a row with one answer has the call of one
                var single = (Operation.ExtensionCall<A>) operation;
                show(call, row.answer().toJson(agent.call(single, CallContext.anonymous())), false);
            }
            return 0;
        });
    }

    /**
     * Values of the command line as the row has them.
     *
     * @throws CommandException if a required one is missing, or one is of another type
     */
    protected Map<String, Object> values(CommandCall call) {
        for (RestParameter one : parameters()) {
            if (one.required() && !one.flag().isEmpty() && !call.has(one.flag())) {
                throw CommandException.usage(
                        "missing " + one.flag() + " (expected: " + RowParameters.expected(one) + ")", HELP);
            }
        }
        Map<String, Object> values = typed(call);
        for (RestParameter one : parameters()) {
            if (values.get(one.name()) instanceof String text
                    && (one.type() == Type.OBJECT || one.type() == Type.NUMBER)) {
                values.put(one.name(), json(call, one, text));
            }
        }
        return values;
    }

    private Map<String, Object> typed(CommandCall call) {
        try {
            return RowParameters.values(call, parameters());
        } catch (CommandException wrong) {
            throw wrong.hint() == null ? wrong.withHint(HELP) : wrong;
        }
    }

    /** Reads a number, or JSON that the command line or a file has. */
    private static Object json(CommandCall call, RestParameter one, String typed) {
        try {
            String text = one.type() == Type.OBJECT ? call.text(typed) : typed;
            Object value = JsonText.read(text.getBytes(UTF_8), Codecs.FREE);
            if (isOfType(value, one.schema().get("type"))) {
                return value;
            }
        } catch (A2AException noJson) {
            // refused below, as JSON of another type is
        }
        throw unexpected(one, typed);
    }

    private static boolean isOfType(Object value, @Nullable Object type) {
        return switch (String.valueOf(type)) {
            case "object" -> value instanceof Map;
            case "array" -> value instanceof List;
            case "integer" -> value instanceof Integer || value instanceof Long;
            case "number" -> value instanceof Number;
            default -> true;
        };
    }

    /** Makes the record of a request, whose codec checks the values before anything is sent. */
    private <O extends Operation.Extension> O operation(
            CommandCall call, ExtensionMethod<O, ?> row, Map<String, Object> values) {
        try {
            return row.request().fromJson(values);
        } catch (A2AException refused) {
            if (refused.violations().isEmpty()) {
                throw refused;
            }
            throw refused(call, values, refused.violations().getFirst());
        } catch (InvalidField refused) {
            throw refused(call, values, new Violation(refused.field(), refused.problem()));
        }
    }

    /** The problem of a value that the codec refuses, by its argument or option. */
    private CommandException refused(CommandCall call, Map<String, Object> values, Violation violation) {
        String member = violation.field().split("[.\\[]", 2)[0];
        RestParameter one = parameters().stream()
                .filter(each -> each.name().equals(member))
                .findFirst()
                .orElse(null);
        if (one == null) {
            return CommandException.usage(violation.field() + ": " + violation.description(), HELP);
        }
        boolean isTooLong = one.type() == Type.DURATION
                && values.get(member) instanceof Long seconds
                && one.schema().get("maximum") instanceof Long most
                && seconds > most;
        return isTooLong && !one.flag().isEmpty()
                ? unexpected(one, String.valueOf(call.option(one.flag())))
                : invalid(one, violation.description());
    }

    private static CommandException unexpected(RestParameter one, String typed) {
        return invalid(one, typed + " (expected: " + RowParameters.expected(one) + ")");
    }

    private static CommandException invalid(RestParameter one, String problem) {
        return CommandException.usage("invalid " + RowParameters.shown(one) + ": " + problem, HELP);
    }

    /** Shows an answer, or an element of a stream. */
    private static void show(CommandCall call, @Nullable Object answer, boolean isElement) {
        Object value = answer == null ? Codecs.NULL : answer;
        call.output().result(() -> JsonText.write(Codecs.FREE, value), page -> {
            if (value instanceof Map<?, ?> members) {
                fields(page, members);
            } else {
                page.layout("Answer", answer);
            }
            if (isElement) {
                page.gap();
            }
        });
    }

    /** One field for each member of an object. Nested objects are blocks. */
    protected static void fields(CommandOutput.Fields page, Map<?, ?> members) {
        members.forEach((name, value) -> {
            String label = label(name.toString());
            if (value instanceof List<?> list && list.stream().noneMatch(Map.class::isInstance)) {
                page.field(
                        label,
                        String.join(", ", list.stream().map(String::valueOf).toList()));
            } else if (value instanceof Map || value instanceof List) {
                page.layout(label, value);
            } else {
                page.field(label, value);
            }
        });
    }

    private static String label(String name) {
        return name.isEmpty()
                ? name
                : Character.toUpperCase(name.charAt(0)) + name.substring(1).replaceAll("([A-Z])", "-$1");
    }
}
