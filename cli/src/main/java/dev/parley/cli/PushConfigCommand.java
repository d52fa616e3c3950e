package dev.parley.cli;

import dev.parley.dialect.Json;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.PushConfigPage;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley task push-config …}. Source: A2A specification 1.0, sections 3.1.7 to 3.1.10. */
abstract class PushConfigCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Command.argument(0, true, "TASK-ID", "The task."));
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        String taskId = call.requiredArgument(0);
        return Connection.open(call, agent -> {
            agent.requirePush();
            run(call, agent, taskId);
            return 0;
        });
    }

    abstract void run(Invocation call, Connection agent, String taskId);

    private static void configArgument(CommandSpec spec) {
        spec.addPositional(Command.argument(1, true, "CONFIG-ID", "The webhook."));
    }

    /** Text output names context and state of every task it touches, so it has to ask for them. */
    private static void show(Invocation call, Connection agent, String taskId, byte[] json, Consumer<TextPage> text) {
        if (call.output().isJson()) {
            call.output().result(() -> json, page -> {});
            return;
        }
        Task task = agent.client().call(new Operation.GetTask(null, taskId, 0), CallContext.anonymous());
        call.output().result(() -> json, page -> {
            page.field("Task-ID", task.id())
                    .field("Context-ID", task.contextId())
                    .field("State", TextView.name(task.state()));
            text.accept(page);
        });
    }

    /** Registers a webhook. */
    static final class Create extends PushConfigCommand {
        @Override
        public void describe(CommandSpec spec) {
            super.describe(spec);
            spec.addOption(Command.option("--url", "URL", "Where the agent shall send updates; required."));
            spec.addOption(Command.option("--id", "ID", "ID of the webhook. Without it the agent makes one."));
            spec.addOption(Command.option("--auth-scheme", "SCHEME", "HTTP authentication scheme of the webhook."));
        }

        @Override
        public List<Setting<?>> relevant() {
            return Command.connectionAnd(Setting.TOKEN, Setting.AUTH_CREDENTIALS);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            if (call.option("--url") == null) {
                throw CliException.usage("no webhook named (expected: --url URL)", null);
            }
            if (call.option("--auth-scheme") == null && call.get(Setting.AUTH_CREDENTIALS) != null) {
                throw CliException.usage(
                        "credentials without a scheme (expected: --auth-scheme)", "--auth-scheme Bearer");
            }
            return super.run(call);
        }

        @Override
        void run(Invocation call, Connection agent, String taskId) {
            String scheme = call.option("--auth-scheme");
            var authentication =
                    scheme == null ? null : new PushConfig.Authentication(scheme, call.get(Setting.AUTH_CREDENTIALS));
            var config = new PushConfig(
                    null,
                    call.option("--id"),
                    taskId,
                    String.valueOf(call.option("--url")),
                    call.get(Setting.TOKEN),
                    authentication);
            PushConfig made =
                    agent.client().call(new Operation.CreatePushConfig(null, config), CallContext.anonymous());
            show(call, agent, taskId, Json.write(made), page -> call.view().pushConfig(page, made));
        }
    }

    /** Shows a webhook. */
    static final class Get extends PushConfigCommand {
        @Override
        public void describe(CommandSpec spec) {
            super.describe(spec);
            configArgument(spec);
        }

        @Override
        void run(Invocation call, Connection agent, String taskId) {
            var get = new Operation.GetPushConfig(null, taskId, call.requiredArgument(1));
            PushConfig config = agent.client().call(get, CallContext.anonymous());
            show(call, agent, taskId, Json.write(config), page -> call.view().pushConfig(page, config));
        }
    }

    /** Lists the webhooks of a task. */
    static final class ListAll extends PushConfigCommand {
        @Override
        public void describe(CommandSpec spec) {
            super.describe(spec);
            spec.addOption(Command.option("--page-size", "N", "Default: the agent's choice."));
            spec.addOption(Command.option("--page-token", "TOKEN", "Where the page before ended."));
        }

        @Override
        void run(Invocation call, Connection agent, String taskId) {
            Integer size = call.number("--page-size", 1, Integer.MAX_VALUE);
            var query =
                    new Operation.ListPushConfigs(null, taskId, size == null ? 0 : size, call.option("--page-token"));
            PushConfigPage found = agent.client().call(query, CallContext.anonymous());
            if (call.output().isJson() && call.isStreaming()) {
                found.configs().forEach(one -> call.output().result(() -> Json.write(one), page -> {}));
                return;
            }
            show(call, agent, taskId, Json.write(found), page -> list(call, found, page));
        }

        private static void list(Invocation call, PushConfigPage found, TextPage page) {
            for (PushConfig config : found.configs()) {
                page.gap();
                call.view().pushConfig(page, config);
            }
            page.gap().field("Next-Page-Token", nonEmpty(found.nextPageToken()));
        }

        private static @Nullable String nonEmpty(String text) {
            return text.isEmpty() ? null : text;
        }
    }

    /** Removes a webhook. */
    static final class Delete extends PushConfigCommand {
        @Override
        public void describe(CommandSpec spec) {
            super.describe(spec);
            configArgument(spec);
        }

        @Override
        void run(Invocation call, Connection agent, String taskId) {
            String id = call.requiredArgument(1);
            var delete = new Operation.DeletePushConfig(null, taskId, id);
            Operation.Empty done = agent.client().call(delete, CallContext.anonymous());
            show(call, agent, taskId, Json.write(done), page -> page.field("Deleted", id));
        }
    }
}
