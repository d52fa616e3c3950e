package dev.parley.cli.admin;

import dev.parley.cli.command.ClientFlags;
import dev.parley.cli.command.ClientFlags.Reports;
import dev.parley.cli.command.ClientFlags.Tls;
import dev.parley.cli.command.Command;
import dev.parley.cli.command.HttpAddress;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.command.Setting;
import dev.parley.cli.connection.Requests;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.HttpCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** {@code parley hub health}: whether a hub answers, for the health checks of containers; not part of A2A. Sends no credentials. */
public final class HealthCommand {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private HealthCommand() {}

    public static Command command() {
        return Command.of(HealthCommand::run)
                .option(HubAdmin.option())
                .settings(Setting.of(in -> List.of(Tls.read(in), Reports.read(in))))
                .strict()
                .footer("Sends no credentials, and waits 5 s at most. Fails if the hub does not answer.");
    }

    private static int run(Invocation call) {
        String hub = Objects.requireNonNullElse(call.option("--url"), ClientFlags.LOCAL_HUB)
                .replaceFirst("/+$", "");
        String url;
        try {
            url = HttpAddress.typed(hub).uri().toString().replaceFirst("/+$", "") + "/health";
        } catch (IllegalArgumentException wrong) {
            throw CommandException.usage(
                    "invalid --url: " + hub + " (expected: such as " + ClientFlags.LOCAL_HUB + ")", null);
        }
        AgentClientBuilder client = Requests.trusting(call).retries(0).callTimeout(TIMEOUT);
        HttpCall.Answer answer =
                Requests.get(client, url, "start a hub with: parley up; or name another one with --url");
        if (answer.status() != 200) {
            throw Requests.refused(
                    Kind.INTERNAL, url + " answered " + answer.status(), answer.status(), answer.body(), null);
        }
        Map<?, ?> health = Json.read(answer.body(), Map.class);
        call.output().result(() -> Json.write(health), page -> page.field("Status", health.get("status")));
        return 0;
    }
}
