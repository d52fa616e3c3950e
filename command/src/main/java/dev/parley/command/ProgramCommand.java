package dev.parley.command;

import dev.parley.protocol.extension.ExtensionProtocol;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A command of the program {@code parley}.
 *
 * <p>A class annotated with {@link picocli.CommandLine.Command} declares its parameters by annotations, and has only the settings of
 * {@link #settings}. Others declare parameters by {@link #describe}, and take the flags of the settings of {@link #target}, too.
 */
public interface ProgramCommand {
    /** Peer of a command, which determines its settings. */
    enum Target {
        /** An agent, which {@link CommandCall#connect} finds by {@code --agent-card}. */
        AGENT,
        /** The administration of a hub, which {@link CommandCall#admin} asks. */
        ADMINISTRATION
    }

    /** Adds options and arguments, for instance of {@link Parameters}. */
    default void describe(CommandSpec spec) {}

    default Target target() {
        return Target.AGENT;
    }

    /** Flags of settings that the help lists besides those of the target, such as {@code --timeout}. */
    default List<String> settings() {
        return List.of();
    }

    /** Extensions whose operations the command calls, besides those that are on the class path of the program. */
    default List<ExtensionProtocol> protocols() {
        return List.of();
    }

    /**
     * Runs the command.
     *
     * @return the exit status
     * @throws CommandException if it fails; failures of the client and of the agent are reported by the program, too
     */
    int run(CommandCall call) throws InterruptedException;
}
