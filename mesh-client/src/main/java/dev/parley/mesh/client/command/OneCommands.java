package dev.parley.mesh.client.command;

import static dev.parley.command.CommandEntry.group;
import static dev.parley.command.CommandEntry.of;

import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import java.util.List;

/** The commands {@code parley one …}. */
public final class OneCommands implements CommandSource {
    /** For the service loader. */
    public OneCommands() {}

    @Override
    public List<CommandEntry> commands() {
        return List.of(group(
                "one",
                "Exchange messages of the ONE mesh with agents",
                of("send", "Delegate a task, or send a query, and show the result", OneSendCommand::new),
                of("listen", "Receive messages and print them as JSON lines", OneListenCommand::new),
                group(
                        "key",
                        "Manage the keys for encrypted content",
                        of("create", "Create a key", OneKeyCommand.Create::new),
                        of(
                                "public",
                                "Show the public half, for --encrypt-for of senders",
                                OneKeyCommand.Public::new))));
    }
}
