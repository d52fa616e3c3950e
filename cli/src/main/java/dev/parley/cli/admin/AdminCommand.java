package dev.parley.cli.admin;

import static java.util.Objects.requireNonNull;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.TextPage;
import dev.parley.command.CommandException;
import dev.parley.command.CommandOutput.Fields;
import dev.parley.command.RowParameters;
import dev.parley.dialect.Json;
import dev.parley.hub.admin.AdminOperations;
import dev.parley.hub.webhooks.WebhookSecrets;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.RestDescription;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.trust.Principal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One operation of the administration of a hub; not part of A2A. Flags, arguments, help and output are derived from its row in
 * {@link AdminOperations}. Some commands do more: those that are named here.
 */
public final class AdminCommand {
    private static final String REDELIVER = "webhooks/redeliver";
    private static final String VERIFY = "audit/verify";
    private static final String SECRET = "webhooks/secret";
    private static final String CHECK = "hubs/check";
    private static final String ERASE = "privacy/erase";

    private AdminCommand() {}

    public static ExtensionMethod<?, ?> row(String operation) {
        return requireNonNull(AdminOperations.named("admin/" + operation), operation);
    }

    public static List<RestParameter> parameters(String operation) {
        return description(operation).parameters();
    }

    /** Parameters that filter rows, without those that part the answer into pages. */
    static List<RestParameter> filters(String operation) {
        return parameters(operation).stream()
                .filter(one -> !Set.of("after", "limit").contains(one.name()))
                .toList();
    }

    private static RestDescription description(String operation) {
        return requireNonNull(row(operation).description(), operation);
    }

    /** @param operation its name after {@code admin/} */
    public static Command of(String operation) {
        Command command = Command.of(call -> run(call, operation))
                .summary(description(operation).summary())
                .settings(HubAdmin.settings())
                .strict();
        if (operation.equals(ERASE)) {
            command.flag("--yes", "Confirm the erasure; required.");
        }
        command.parameters(parameters(operation)).option(HubAdmin.option());
        if (HubAdmin.isOffline(operation)) {
            command.option(HubAdmin.dataOption(operation));
        }
        return switch (operation) {
            case SECRET ->
                command.option("--data", "DIR", "The data directory of the hub instead, which may be running.");
            case VERIFY ->
                command.footer(
                        "Exits with 1 if the chain is broken. Keep End elsewhere, to know later that the rows until",
                        "then are the same.");
            case CHECK -> command.footer("Exits with 1 if there is a problem.");
            default -> command;
        };
    }

    private static int run(Invocation call, String operation) throws InterruptedException {
        Map<String, Object> values = RowParameters.values(call, parameters(operation));
        if (operation.equals(ERASE)) {
            requireSubject(values);
            if (!call.has("--yes")) {
                throw CommandException.usage(
                        "an erasure cannot be undone (expected: --yes)", "parley privacy export saves it before");
            }
        }
        String data = operation.equals(SECRET) ? call.option("--data") : null;
        Map<?, ?> answer = data == null ? HubAdmin.ask(call, operation, values) : secret(call, data, values);
        boolean good = switch (operation) {
            case VERIFY -> Boolean.TRUE.equals(answer.get("good"));
            case CHECK -> checks(answer).stream().noneMatch(one -> "problem".equals(one.get("level")));
            default -> true;
        };
        call.output().result(() -> Json.write(answer), page -> {
            switch (operation) {
                case REDELIVER -> {
                    TextPage.members(page, values); // the answer is empty
                    page.field("Redelivering", "yes");
                }
                case VERIFY ->
                    page.field("Chain", good ? "good" : "broken")
                            .field("Rows", answer.get("rows"))
                            .field("End", answer.get("end"))
                            .field("Broken", answer.get("broken"));
                case CHECK -> {
                    page.field("Made", answer.get("made"));
                    checks(answer).forEach(one -> page.field(String.valueOf(one.get("check")), line(one)));
                }
                default -> show(page, answer);
            }
        });
        return good ? 0 : 1;
    }

    /** Refuses a request about personal data that names neither a person nor a context. */
    static void requireSubject(Map<String, ?> values) {
        if (!values.containsKey("principal") && !values.containsKey("contextId")) {
            throw CommandException.usage("no subject (expected: --subject NAME or --context ID)", null);
        }
    }

    /** Reads a secret from the files of a data directory whose hub may run. */
    private static Map<?, ?> secret(Invocation call, String data, Map<String, Object> values) {
        HubAdmin.refuseHub(call);
        String group = values.getOrDefault("group", Principal.DEFAULT_GROUP).toString();
        WebhookSecrets secrets = WebhookSecrets.in(call.existingData(data));
        return new LinkedHashMap<>(Map.of("group", group, "secret", secrets.of(group)));
    }

    private static List<Map<?, ?>> checks(Map<?, ?> answer) {
        return answer.get("checks") instanceof List<?> all
                ? all.stream().<Map<?, ?>>map(one -> (Map<?, ?>) one).toList()
                : List.of();
    }

    private static String line(Map<?, ?> check) {
        Object task = check.get("taskId");
        Object advice = check.get("advice");
        return check.get("level") + ", " + (task == null ? "" : "task " + task + ": ") + check.get("message")
                + (advice == null ? "" : ". " + advice);
    }

    /** Shows a list with its size, or the members of an object. */
    private static void show(Fields page, Map<?, ?> answer) {
        if (answer.size() == 1 && answer.values().iterator().next() instanceof List<?> all) {
            for (Object one : all) {
                TextPage.members(page, (Map<?, ?>) one);
                page.gap();
            }
            page.field("Total-Size", all.size());
        } else {
            TextPage.members(page, answer);
        }
    }
}
