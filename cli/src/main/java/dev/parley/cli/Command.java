package dev.parley.cli;

import dev.parley.cli.Setting.Scope;
import dev.parley.command.Parameters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** One thing the program can do: what it takes, and what it does with it. */
interface Command {

    /** Adds the options and arguments of this command to {@code spec}, which has its name already. */
    void describe(CommandSpec spec);

    /**
     * Does it.
     *
     * @return the exit status
     * @throws CliException if it cannot be done; the caller of this reports it
     */
    int run(Invocation call) throws InterruptedException;

    /** The settings whose flags the command takes. */
    default Scope scope() {
        return Scope.CLIENT;
    }

    /** The values of the settings, with the files that count for this command read. */
    default Settings settings(Surroundings around, Settings.Flags flags) {
        return scope() == Scope.HUB ? Settings.ofHub(around, flags) : Settings.ofClient(around, flags);
    }

    /** The settings that help lists; the others of the scope are taken too, for they are global, but mean little here. */
    default List<Setting<?>> relevant() {
        return CONNECTION;
    }

    List<Setting<?>> CONNECTION = List.of(
            Setting.AGENT_CARD,
            Setting.OUTPUT,
            Setting.BEARER,
            Setting.API_KEY,
            Setting.KEY_SERVICE,
            Setting.KEY_ORIGIN,
            Setting.KEYS_FILE,
            Setting.KEYRING,
            Setting.SVC_PARAM,
            Setting.TRANSPORT,
            Setting.A2A_VERSION,
            Setting.ALLOW_ORIGIN,
            Setting.TRUST,
            Setting.CARD_SIGNATURES,
            Setting.INSECURE,
            Setting.INSECURE_HTTP,
            Setting.CONFIG,
            Setting.VERBOSE,
            Setting.DEBUG);

    /** {@link #CONNECTION} with more before it. */
    static List<Setting<?>> connectionAnd(Setting<?>... more) {
        return java.util.stream.Stream.concat(List.<Setting<?>>of(more).stream(), CONNECTION.stream())
                .toList();
    }

    /** Returns an option with a value that belongs to one command only and is no setting. */
    static OptionSpec option(String name, String label, String description) {
        return Parameters.option(name, label, description);
    }

    /** An option without a value. */
    static OptionSpec flag(String name, String description) {
        return Parameters.flag(name, description);
    }

    /** {@code --stream}, which is never read from the environment or a file. */
    static OptionSpec streamOption() {
        return flag("--stream", "Show each event as it comes; with -o json one document per line.");
    }

    /** The next argument. */
    static PositionalParamSpec argument(int index, boolean required, String label, String description) {
        return Parameters.argument(index, required, label, description);
    }

    /** The data directory that {@code --data} names, which has to be there. */
    static Path existingData(Invocation call, String typed) {
        Path data = call.around().path(typed);
        if (!Files.isDirectory(data)) {
            throw CliException.usage(
                    "--data \"" + data + "\": not a directory (expected: the data directory of a hub)",
                    "parley up creates ~/.parley, or the directory that its --data names");
        }
        return data;
    }
}
