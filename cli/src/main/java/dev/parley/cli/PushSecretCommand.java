package dev.parley.cli;

import dev.parley.dialect.Json;
import dev.parley.hub.WebhookSecrets;
import dev.parley.trust.Principal;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley push secret}: what receivers of a group's webhooks verify them with; not part of A2A. */
final class PushSecretCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(HubAdmin.option());
        spec.addOption(Command.option("--data", "DIR", "The data directory of the hub instead, which may be running."));
        spec.addOption(Command.option(
                "--group", "GROUP", "The group of the callers; default: " + Principal.DEFAULT_GROUP + "."));
    }

    @Override
    public List<Setting<?>> relevant() {
        return HubAdmin.SETTINGS;
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        String named = call.option("--group");
        String group = named == null ? Principal.DEFAULT_GROUP : named;
        String data = call.option("--data");
        byte[] json = data == null
                ? HubAdmin.ask(
                        call,
                        "POST",
                        "/admin/webhooks/secret",
                        Json.write(Map.of("group", group)),
                        "parley push secret --help")
                : Json.write(
                        Map.of("group", group, "secret", secrets(call, data).of(group)));
        String secret = String.valueOf(Json.read(json, Map.class).get("secret"));
        call.output().result(() -> json, page -> page.field("Group", group).field("Secret", secret));
        return 0;
    }

    private static WebhookSecrets secrets(Invocation call, String data) {
        if (call.option("--url") != null) {
            throw CliException.usage("--data and --url together (expected: one of them)", null);
        }
        Path directory = Command.existingData(call, data);
        return WebhookSecrets.in(directory);
    }
}
