package dev.parley.cli.task;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.command.CommandException;
import dev.parley.command.CommandOutput.Fields;
import dev.parley.dialect.Json;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.PushConfigPage;
import dev.parley.protocol.PushConfig;
import java.util.function.Consumer;

/** {@code parley task push-config …}. Source: A2A specification 1.0, sections 3.1.7 to 3.1.10. */
public final class PushConfigCommands {
    private PushConfigCommands() {}

    /** Work about the webhooks of a task. */
    private interface Work {
        void run(Invocation call, AgentConnection agent, String taskId);
    }

    private static Command command(Work work) {
        return Command.of(call -> {
                    String taskId = call.requiredArgument(0);
                    return AgentConnection.open(call, agent -> {
                        agent.requirePush();
                        work.run(call, agent, taskId);
                        return 0;
                    });
                })
                .argument("TASK-ID", "The task.");
    }

    public static Command create() {
        return command(PushConfigCommands::create)
                .option("--url", "URL", "Where the agent shall send updates; required.")
                .option("--id", "ID", "ID of the webhook. Without it the agent makes one.")
                .option("--auth-scheme", "SCHEME", "HTTP authentication scheme of the webhook.")
                .agent("token", "auth-credentials")
                .checking(call -> {
                    if (call.option("--url") == null) {
                        throw CommandException.usage("no webhook named (expected: --url URL)", null);
                    }
                    if (call.option("--auth-scheme") == null && call.request().authCredentials() != null) {
                        throw CommandException.usage(
                                "credentials without a scheme (expected: --auth-scheme)", "--auth-scheme Bearer");
                    }
                });
    }

    private static void create(Invocation call, AgentConnection agent, String taskId) {
        String scheme = call.option("--auth-scheme");
        var config = new PushConfig(
                null,
                call.option("--id"),
                taskId,
                String.valueOf(call.option("--url")),
                call.request().token(),
                scheme == null
                        ? null
                        : new PushConfig.Authentication(scheme, call.request().authCredentials()));
        PushConfig created = agent.client().call(new Operation.CreatePushConfig(null, config), CallContext.anonymous());
        show(call, agent, taskId, Json.write(created), page -> TextView.of(call).pushConfig(page, created));
    }

    public static Command get() {
        return command((call, agent, taskId) -> {
                    var get = new Operation.GetPushConfig(null, taskId, call.requiredArgument(1));
                    PushConfig config = agent.client().call(get, CallContext.anonymous());
                    show(
                            call,
                            agent,
                            taskId,
                            Json.write(config),
                            page -> TextView.of(call).pushConfig(page, config));
                })
                .argument("CONFIG-ID", "The webhook.");
    }

    public static Command list() {
        return command(PushConfigCommands::list)
                .option("--page-size", "N", "Default: the agent's choice.")
                .option("--page-token", "TOKEN", "Next-Page-Token of the previous page.");
    }

    private static void list(Invocation call, AgentConnection agent, String taskId) {
        Integer size = call.number("--page-size", 1, Integer.MAX_VALUE);
        var query = new Operation.ListPushConfigs(null, taskId, size == null ? 0 : size, call.option("--page-token"));
        PushConfigPage found = agent.client().call(query, CallContext.anonymous());
        if (call.output().isJson() && call.isStreaming()) {
            found.configs().forEach(one -> call.output().result(() -> Json.write(one), page -> {}));
            return;
        }
        show(call, agent, taskId, Json.write(found), page -> {
            for (PushConfig config : found.configs()) {
                page.gap();
                TextView.of(call).pushConfig(page, config);
            }
            page.gap().field("Next-Page-Token", found.nextPageToken().isEmpty() ? null : found.nextPageToken());
        });
    }

    public static Command delete() {
        return command((call, agent, taskId) -> {
                    String id = call.requiredArgument(1);
                    var delete = new Operation.DeletePushConfig(null, taskId, id);
                    Operation.Empty done = agent.client().call(delete, CallContext.anonymous());
                    show(call, agent, taskId, Json.write(done), page -> page.field("Deleted", id));
                })
                .argument("CONFIG-ID", "The webhook.");
    }

    /** Writes a result; as text with the context and the state of the task, which are read for it. */
    private static void show(
            Invocation call, AgentConnection agent, String taskId, byte[] json, Consumer<Fields> text) {
        call.output().result(() -> json, page -> {
            var get = new Operation.GetTask(null, taskId, 0);
            TextView.identity(page, agent.client().call(get, CallContext.anonymous()));
            text.accept(page);
        });
    }
}
