package dev.parley.activity.command;

import dev.parley.activity.ActivityProtocol;
import dev.parley.command.CommandCall;
import dev.parley.command.ProgramCommand;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Pattern;

/** A command on the activity of a hub, whose address or whose agent {@code activity} is that of {@code --agent-card}. */
abstract class HubCommand implements ProgramCommand {
    private static final Pattern HUB = Pattern.compile("(https?://)?[^/?#]+/?");

    @Override
    public List<String> settings() {
        return List.of("--timeout");
    }

    static int connect(CommandCall call, CommandCall.Work work) throws InterruptedException {
        String agent = call.setting("--agent-card");
        return agent != null && HUB.matcher(agent).matches() && !Files.exists(call.path(agent))
                ? call.connect(agent + (agent.endsWith("/") ? "" : "/") + ActivityProtocol.AGENT, work)
                : call.connect(work);
    }
}
