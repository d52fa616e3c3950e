package dev.parley.mesh.client.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import dev.parley.client.AgentClient;
import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.command.Parameters;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.mesh.Envelope.Priority;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Outcome;
import dev.parley.mesh.MeshContent.Problem;
import dev.parley.mesh.MeshContent.Response;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.mesh.MeshContent.Status;
import dev.parley.mesh.RetryPolicy;
import dev.parley.mesh.client.Delegated;
import dev.parley.mesh.client.OneClient;
import dev.parley.mesh.client.OneException;
import dev.parley.mesh.client.OneIdentity;
import dev.parley.mesh.client.TaskDelegation;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import dev.parley.protocol.retry.Backoff.Growth;
import dev.parley.protocol.settings.SettingType;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import dev.parley.trust.cards.ContentKeys;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley one send}: delegates a task or sends a query. */
final class OneSendCommand implements ProgramCommand {
    static final String DEFAULT_ID = "parley";

    private static final int MOST_RETRIES = 10;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Parameters.argument(
                0, true, "TASK", "Id, tag or name of a skill of the agent; with --query, the text of a query."));
        spec.addOption(Parameters.flag("--query", "Send a query instead of a task, and show the answer."));
        spec.addOption(Parameters.option(
                "--parameters", "JSON", "Parameters, a JSON object; - for standard input, @FILE for a file."));
        spec.addOption(Parameters.option("--priority", "LEVEL", "low, medium, high or critical. Default: medium."));
        spec.addOption(Parameters.option("--time-limit", "DURATION", "Longest time of the work, such as 5m."));
        spec.addOption(Parameters.option(
                "--deadline", "TIME", "Time after which the result is of no use, such as 2030-01-01T12:00:00Z."));
        spec.addOption(Parameters.option("--retries", "N", "Repetitions after a failure, 0 to 10. Default: 3."));
        spec.addOption(Parameters.option(
                "--backoff", "KIND", "Growth of the waits: linear or exponential. Default: exponential."));
        spec.addOption(Parameters.option(
                "--callback",
                "URL",
                "Address that receives messages, such as that of parley one listen; does not wait."));
        spec.addOption(Parameters.flag("--no-wait", "Show the acceptance, and do not wait for the result."));
        spec.addOption(
                Parameters.option("--correlation-id", "ID", "Id of all messages about the task. Default: random."));
        spec.addOption(Parameters.option("--as", "AGENT", "Agent id of the sender. Default: parley."));
        spec.addOption(Parameters.option("--endpoint", "URL", "Address of the sender. Default: none."));
        spec.addOption(Parameters.option("--sign-key", "FILE", "Key that signs, of parley card key create."));
        spec.addOption(Parameters.option("--encrypt-for", "FILE", "Public key of the agent, which encrypts."));
        spec.addOption(
                Parameters.option("--decrypt-key", "FILE", "Key that decrypts the result, of parley one key create."));
        spec.usageMessage()
                .footer(
                        "",
                        "The result goes to standard output, progress to standard error. Answers with a signature are",
                        "verified if --trust is given. Exit status 1 if the task fails.");
    }

    @Override
    public List<String> settings() {
        return List.of("--timeout");
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        OneIdentity own = identity(call);
        String encryptFor = call.option("--encrypt-for");
        ContentKeys encryption = encryptFor == null
                ? null
                : OneKeyCommand.keys("--encrypt-for", () -> ContentKeys.read(call.path(encryptFor)));
        Map<String, @Nullable Object> parameters = parameters(call);
        TaskDelegation delegation = delegation(call, parameters);
        return call.connect(agent -> {
            try (OneClient client = client(own, agent, encryption)) {
                if (call.has("--query")) {
                    answer(call, client.query(call.text(call.requiredArgument(0)), parameters));
                } else {
                    delegate(call, client, delegation);
                }
                return 0;
            } catch (OneException refused) {
                throw failure(refused);
            }
        });
    }

    private static OneClient client(OneIdentity own, AgentClient agent, @Nullable ContentKeys encryption) {
        OneClient client = OneClient.connect(own, agent);
        return encryption == null ? client : client.encrypting(encryption);
    }

    private static OneIdentity identity(CommandCall call) {
        OneIdentity own = OneIdentity.of(
                requireNonNullElse(call.option("--as"), DEFAULT_ID), requireNonNullElse(call.option("--endpoint"), ""));
        String signing = call.option("--sign-key");
        if (signing != null) {
            own = own.signing(OneKeyCommand.keys("--sign-key", () -> CardKeys.read(List.of(call.path(signing)))));
        }
        String decryption = call.option("--decrypt-key");
        if (decryption != null) {
            own = own.decrypting(OneKeyCommand.keys("--decrypt-key", () -> ContentKeys.read(call.path(decryption))));
        }
        String trust = call.setting("--trust");
        if (trust != null) {
            own = own.trusting(OneKeyCommand.keys(
                    "--trust",
                    () -> CardTrust.read(SettingType.LIST.parser().apply(trust).stream()
                            .map(call::path)
                            .toList())));
        }
        return own;
    }

    // ---- Options

    private static TaskDelegation delegation(CommandCall call, Map<String, @Nullable Object> parameters) {
        TaskDelegation delegation = TaskDelegation.of(call.requiredArgument(0))
                .parameters(parameters)
                .priority(word(call, "--priority", Priority.MEDIUM, Priority.values()))
                .retryPolicy(new RetryPolicy(
                        requireNonNullElse(call.number("--retries", 0, MOST_RETRIES), RetryPolicy.DEFAULT.maxRetries()),
                        word(call, "--backoff", RetryPolicy.DEFAULT.backoff(), Growth.values())));
        String limit = call.option("--time-limit");
        if (limit != null) {
            delegation.timeout(duration("--time-limit", limit));
        }
        String deadline = call.option("--deadline");
        if (deadline != null) {
            delegation.deadline(time(deadline));
        }
        String callback = call.option("--callback");
        if (callback != null) {
            delegation.callback(callback);
        }
        String correlationId = call.option("--correlation-id");
        return correlationId == null ? delegation : delegation.correlationId(correlationId);
    }

    private static <E extends Enum<E>> E word(CommandCall call, String option, E otherwise, E[] values) {
        String typed = call.option(option);
        if (typed == null) {
            return otherwise;
        }
        for (E value : values) {
            if (value.name().toLowerCase(Locale.ROOT).equals(typed)) {
                return value;
            }
        }
        throw invalid(
                option,
                typed,
                "one of "
                        + String.join(
                                ", ",
                                List.of(values).stream()
                                        .map(value -> value.name().toLowerCase(Locale.ROOT))
                                        .toList()));
    }

    private static Duration duration(String option, String typed) {
        try {
            return SettingType.DURATION.parser().apply(typed);
        } catch (IllegalArgumentException | DateTimeParseException | ArithmeticException wrong) {
            throw invalid(option, typed, SettingType.DURATION.expected());
        }
    }

    private static Instant time(String typed) {
        try {
            return Instant.parse(typed);
        } catch (DateTimeParseException wrong) {
            throw invalid("--deadline", typed, "a time such as 2030-01-01T12:00:00Z");
        }
    }

    private static CommandException invalid(String option, String typed, String expected) {
        return CommandException.usage("invalid " + option + ": " + typed + " (expected: " + expected + ")", null);
    }

    private static Map<String, @Nullable Object> parameters(CommandCall call) {
        String typed = call.option("--parameters");
        if (typed == null) {
            return Map.of();
        }
        try {
            var members = new LinkedHashMap<String, @Nullable Object>();
            Map<?, ?> read = Json.read(call.text(typed).getBytes(UTF_8), Map.class);
            read.forEach((name, value) -> members.put(String.valueOf(name), value));
            return members;
        } catch (A2AException wrong) {
            throw CommandException.usage(
                    "invalid --parameters: " + wrong.getMessage() + " (expected: a JSON object)", null);
        }
    }

    // ---- Output

    private static void delegate(CommandCall call, OneClient client, TaskDelegation delegation)
            throws InterruptedException {
        try (Delegated delegated = client.send(delegation)) {
            if (call.has("--no-wait") || call.option("--callback") != null) {
                shown(call, delegated.acceptance(), delegated.taskId(), "accepted", null);
                return;
            }
            call.output().note("task " + delegated.taskId() + ": accepted");
            result(call, delegated);
        }
    }

    private static void result(CommandCall call, Delegated delegated) throws InterruptedException {
        Result result = awaited(call, delegated);
        shown(call, result, result.taskId(), result.status().name().toLowerCase(Locale.ROOT), result.result());
        if (result.status() == Outcome.FAILED) {
            Problem problem = result.error();
            throw CommandException.failed(
                    problem == null ? "internal_error" : problem.code(),
                    "the task failed" + (problem == null ? "" : ": " + problem.message()),
                    null);
        }
    }

    private static Result awaited(CommandCall call, Delegated delegated) throws InterruptedException {
        String typed = call.setting("--timeout");
        Duration patience = typed == null ? null : duration("--timeout", typed);
        long end = patience == null ? Long.MAX_VALUE : System.nanoTime() + patience.toNanos();
        try (Feed<MeshContent> updates = delegated.updates()) {
            for (List<MeshContent> next = updates.next(PATIENCE); next != null; next = updates.next(PATIENCE)) {
                next.forEach(update -> progress(call, update));
                if (patience != null && System.nanoTime() > end) {
                    throw CommandException.of(
                            Kind.UNREACHABLE,
                            "no result of task " + delegated.taskId() + " within " + patience,
                            "the task goes on: parley task get --wait " + delegated.taskId(),
                            null);
                }
            }
            return delegated.result().get();
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(failed);
        }
    }

    private static void progress(CommandCall call, MeshContent update) {
        if (update instanceof Status status) {
            String message = status.message() == null ? "" : " " + status.message();
            call.output().note("task " + status.taskId() + ": " + status.progress() + "%" + message);
        }
    }

    private static void answer(CommandCall call, Response response) {
        call.output()
                .result(
                        () -> Json.write(EnvelopeModel.body(response).content()),
                        page -> page.layout("Result", response.result()));
        Problem problem = response.error();
        if (problem != null) {
            throw CommandException.failed(problem.code(), problem.message(), null);
        }
    }

    private static void shown(
            CommandCall call, MeshContent content, String taskId, String status, @Nullable Object result) {
        call.output().result(() -> Json.write(EnvelopeModel.body(content).content()), page -> {
            page.field("Task", taskId).field("Status", status);
            if (result != null) {
                page.layout("Result", result);
            }
        });
    }

    private static CommandException failure(OneException refused) {
        String hint = switch (refused.code()) {
            case "capability_mismatch" -> "see the skills of the agent: parley card get";
            case "invalid_message" -> "check --as, --sign-key and the parameters";
            default -> refused.isRetryable() ? "try again later" : null;
        };
        return CommandException.failed(refused.code(), String.valueOf(refused.getMessage()), hint);
    }
}
