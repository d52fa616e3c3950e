package dev.parley.cli;

import dev.parley.dialect.Json;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley push dead-letters …}: what a hub could not deliver to webhooks; for its operator, not part of A2A. */
abstract class DeadLettersCommand implements Command {
    private static final String PATH = "/admin/webhooks";
    private static final String HINT = "parley push dead-letters list shows what there is";

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(HubAdmin.option());
    }

    @Override
    public List<Setting<?>> relevant() {
        return HubAdmin.SETTINGS;
    }

    /** Lists them. */
    static final class ListAll extends DeadLettersCommand {
        @Override
        public int run(Invocation call) throws InterruptedException {
            byte[] json = HubAdmin.ask(call, "GET", PATH + "/dead", HINT);
            call.output().result(() -> json, page -> {
                if (Json.read(json, Map.class).get("webhooks") instanceof List<?> webhooks) {
                    webhooks.forEach(one -> show(page, (Map<?, ?>) one));
                    page.field("Total-Size", webhooks.size());
                }
            });
            return 0;
        }

        private static void show(TextPage page, Map<?, ?> dead) {
            page.field("Task-ID", dead.get("taskId"))
                    .field("Config-ID", dead.get("configId"))
                    .field("Agent", dead.get("agent"))
                    .field("URL", dead.get("url"))
                    .field("Attempts", dead.get("attempts"))
                    .field("Dead-Since", dead.get("deadSince"))
                    .field("Last-Error", dead.get("lastError"))
                    .gap();
        }
    }

    /** Has the hub offer again what was given up. */
    static final class Redeliver extends DeadLettersCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(0, true, "TASK-ID", "The task."));
            spec.addPositional(Command.argument(1, true, "CONFIG-ID", "The webhook."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            String task = call.requiredArgument(0);
            String config = call.requiredArgument(1);
            byte[] json = HubAdmin.ask(
                    call,
                    "POST",
                    PATH + "/" + HubAdmin.segment(task) + "/" + HubAdmin.segment(config) + "/redeliver",
                    HINT);
            call.output()
                    .result(
                            () -> json,
                            page -> page.field("Task-ID", task)
                                    .field("Config-ID", config)
                                    .field("Redelivering", "yes"));
            return 0;
        }
    }
}
