package dev.parley.cli;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.hub.AdminOperations;
import dev.parley.hub.WebhookSecrets;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.RestDescription;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import dev.parley.protocol.settings.SettingType;
import dev.parley.trust.Principal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * One operation of the administration of a hub; not part of A2A. Flags, arguments, help and output are derived from its row in
 * {@link AdminOperations}.
 */
class AdminCommand implements Command {
    private static final Pattern WORD = Pattern.compile("[A-Z]?[a-z]+");

    /** Label of parameters of which a duration or a date stands for a time. */
    private static final String WHEN = "WHEN";

    private final String operation;

    /** @param operation its name behind {@code admin/} */
    AdminCommand(String operation) {
        this.operation = operation;
    }

    static ExtensionMethod<?, ?> row(String operation) {
        return requireNonNull(AdminOperations.named("admin/" + operation), operation);
    }

    static List<RestParameter> parameters(String operation) {
        return description(operation).parameters();
    }

    private static RestDescription description(String operation) {
        return requireNonNull(row(operation).description(), operation);
    }

    String summary() {
        return description(operation).summary();
    }

    @Override
    public void describe(CommandSpec spec) {
        describe(spec, parameters(operation));
        spec.addOption(HubAdmin.option());
        if (HubAdmin.isOffline(operation)) {
            spec.addOption(HubAdmin.dataOption(operation));
        }
    }

    /** Adds arguments and options for parameters. */
    static void describe(CommandSpec spec, List<RestParameter> parameters) {
        int arguments = 0;
        for (RestParameter one : parameters) {
            if (one.flag().isEmpty()) {
                spec.addPositional(Command.argument(arguments, true, one.label(), one.description()));
                arguments++;
            } else if (one.type() == Type.TRUTH) {
                spec.addOption(Command.flag(one.flag(), one.description()));
            } else {
                spec.addOption(OptionSpec.builder(one.flag())
                        .type(one.type() == Type.TEXTS ? List.class : String.class)
                        .auxiliaryTypes(String.class)
                        .arity("1")
                        .paramLabel(one.label())
                        .description(one.description())
                        .build());
            }
        }
    }

    @Override
    public List<Setting<?>> relevant() {
        return HubAdmin.SETTINGS;
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        Map<String, Object> values = values(call, parameters(operation));
        Map<?, ?> answer = ask(call, values);
        call.output().result(() -> Json.write(answer), page -> show(page, values, answer));
        return status(answer);
    }

    Map<?, ?> ask(Invocation call, Map<String, Object> values) throws InterruptedException {
        return HubAdmin.ask(call, operation, values);
    }

    int status(Map<?, ?> answer) {
        return 0;
    }

    /** Shows a list with its size, or the members of an object. */
    void show(TextPage page, Map<String, Object> values, Map<?, ?> answer) {
        if (answer.size() == 1 && answer.values().iterator().next() instanceof List<?> all) {
            for (Object one : all) {
                show(page, (Map<?, ?>) one);
                page.gap();
            }
            page.field("Total-Size", all.size());
        } else {
            show(page, answer);
        }
    }

    static void show(TextPage page, Map<?, ?> members) {
        members.forEach((name, value) -> page.field(
                label(String.valueOf(name)),
                value instanceof List<?> list
                        ? list.stream().map(String::valueOf).collect(Collectors.joining(" "))
                        : value));
    }

    /** Label of a member: {@code deadSince} is Dead-Since, {@code taskId} is Task-ID. */
    static String label(String name) {
        return WORD.matcher(name)
                .results()
                .map(word -> switch (word.group().toLowerCase(Locale.ROOT)) {
                    case "id" -> "ID";
                    case "url" -> "URL";
                    default ->
                        Character.toUpperCase(word.group().charAt(0))
                                + word.group().substring(1);
                })
                .collect(Collectors.joining("-"));
    }

    // ---- Values

    /**
     * Returns the values of parameters on the command line, by name.
     *
     * @throws CliException if a required one is missing, or one is wrong
     */
    static Map<String, Object> values(Invocation call, List<RestParameter> parameters) {
        var values = new LinkedHashMap<String, Object>();
        int arguments = 0;
        for (RestParameter one : parameters) {
            Object value;
            if (one.flag().isEmpty()) {
                value = call.requiredArgument(arguments);
                arguments++;
            } else {
                value = value(call, one);
            }
            if (value != null) {
                values.put(one.name(), value);
            } else if (one.required()) {
                throw CliException.usage("missing " + one.flag(), null);
            }
        }
        return values;
    }

    private static @Nullable Object value(Invocation call, RestParameter one) {
        if (!call.has(one.flag())) {
            return null;
        }
        if (one.type() == Type.TRUTH) {
            return true;
        }
        if (one.type() == Type.TEXTS) {
            return call.typed().matchedOptionValue(one.flag(), List.of());
        }
        String text = requireNonNull(call.option(one.flag()));
        if (one.type() == Type.TIME && one.label().equals(WHEN)) {
            return time(one.flag(), text).toString();
        }
        return one.type() == Type.NUMBER && one.label().equals("DURATION") ? (Object) seconds(one.flag(), text) : text;
    }

    private static Instant time(String flag, String text) {
        try {
            return Instant.now().plus(duration(text));
        } catch (IllegalArgumentException none) {
            // falls through: it is a time
        }
        try {
            return text.length() == "2027-01-31".length()
                    ? LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant()
                    : Instant.parse(text);
        } catch (DateTimeParseException neither) {
            throw CliException.usage(
                    "invalid " + flag + ": " + text + " (expected: such as 90d, 2027-01-31 or 2027-01-31T12:00:00Z)",
                    null);
        }
    }

    private static long seconds(String flag, String text) {
        try {
            return duration(text).toSeconds();
        } catch (IllegalArgumentException wrong) {
            throw CliException.usage(
                    "invalid " + flag + ": " + text + " (expected: " + SettingType.DURATION.expected() + ")", null);
        }
    }

    private static Duration duration(String text) {
        return SettingType.DURATION.parser().apply(text);
    }

    // ---- Operations whose command does more

    /** Lets the hub deliver again; the answer is empty. */
    static final class Redeliver extends AdminCommand {
        Redeliver() {
            super("webhooks/redeliver");
        }

        @Override
        void show(TextPage page, Map<String, Object> values, Map<?, ?> answer) {
            show(page, values);
            page.field("Redelivering", "yes");
        }
    }

    /** Exits with 1 if the chain of the audit is broken. */
    static final class Verify extends AdminCommand {
        Verify() {
            super("audit/verify");
        }

        @Override
        public void describe(CommandSpec spec) {
            spec.usageMessage()
                    .footer(
                            "",
                            "Exits with 1 if the chain is broken. Keep End elsewhere, to know later that the rows until",
                            "then are the same.");
            super.describe(spec);
        }

        @Override
        void show(TextPage page, Map<String, Object> values, Map<?, ?> answer) {
            page.field("Chain", status(answer) == 0 ? "good" : "broken")
                    .field("Rows", answer.get("rows"))
                    .field("End", answer.get("end"))
                    .field("Broken", answer.get("broken"));
        }

        @Override
        int status(Map<?, ?> answer) {
            return Boolean.TRUE.equals(answer.get("good")) ? 0 : 1;
        }
    }

    /** Also reads the files of a data directory whose hub may run. */
    static final class Secret extends AdminCommand {
        Secret() {
            super("webhooks/secret");
        }

        @Override
        public void describe(CommandSpec spec) {
            super.describe(spec);
            spec.addOption(
                    Command.option("--data", "DIR", "The data directory of the hub instead, which may be running."));
        }

        @Override
        Map<?, ?> ask(Invocation call, Map<String, Object> values) throws InterruptedException {
            String data = call.option("--data");
            if (data == null) {
                return super.ask(call, values);
            }
            HubAdmin.refuseHub(call);
            String group = values.getOrDefault("group", Principal.DEFAULT_GROUP).toString();
            WebhookSecrets secrets = WebhookSecrets.in(Command.existingData(call, data));
            return new LinkedHashMap<>(Map.of("group", group, "secret", secrets.of(group)));
        }
    }

    /** Asks for a confirmation in the command line. */
    static final class Erase extends AdminCommand {
        Erase() {
            super("privacy/erase");
        }

        @Override
        public void describe(CommandSpec spec) {
            spec.addOption(Command.flag("--yes", "Confirm the erasure; required."));
            super.describe(spec);
        }

        @Override
        Map<?, ?> ask(Invocation call, Map<String, Object> values) throws InterruptedException {
            PrivacyCommand.requireSubject(values);
            if (!call.has("--yes")) {
                throw CliException.usage(
                        "an erasure cannot be undone (expected: --yes)", "parley privacy export saves it before");
            }
            return super.ask(call, values);
        }
    }
}
