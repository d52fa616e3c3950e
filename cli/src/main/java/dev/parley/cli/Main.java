package dev.parley.cli;

import dev.parley.cli.command.ClientFlags.Reports;
import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.command.Settings;
import dev.parley.cli.command.TypedFlags;
import dev.parley.cli.connection.InstalledCommands;
import dev.parley.cli.connection.Problems;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.cli.output.Interruption;
import dev.parley.cli.output.Logs;
import dev.parley.cli.output.Output;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.hub.Hub;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** The program {@code parley}. */
public final class Main {
    private static final String CARRIERS = "jdk.virtualThreadScheduler.parallelism";

    private Main() {}

    public static void main(String[] args) {
        if (System.getProperty(CARRIERS) == null) {
            // One more than would keep all processors busy is free for what comes from outside (ADR 11).
            System.setProperty(CARRIERS, Integer.toString(Runtime.getRuntime().availableProcessors() + 1));
        }
        var interruption = new Interruption();
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            int status = interruption.signal();
                            if (status >= 0) {
                                Runtime.getRuntime().halt(status);
                            }
                        },
                        "interruption"));
        CliEnvironment around = surroundings(interruption);
        if (args.length > 0 && args[0].equals("up")) {
            Hub.prepare(); // beside reading the command line and the settings
        }
        int status = run(around, args);
        interruption.clear();
        System.exit(status);
    }

    private static CliEnvironment surroundings(Interruption interruption) {
        // The labels, numbers and escapes are a contract with scripts in any locale.
        Locale.setDefault(Locale.ROOT);
        Logs.quiet();
        return new CliEnvironment(
                System.in,
                stream(FileDescriptor.out),
                stream(FileDescriptor.err),
                System.getenv(),
                Path.of("").toAbsolutePath(),
                Path.of(System.getProperty("user.home")),
                interruption,
                CliEnvironment.isTerminal(2));
    }

    private static PrintStream stream(FileDescriptor descriptor) {
        return new PrintStream(
                new BufferedOutputStream(new FileOutputStream(descriptor), 8192), false, StandardCharsets.UTF_8);
    }

    /**
     * Runs one command line.
     *
     * @return the exit status
     */
    static int run(CliEnvironment around, String... args) {
        var output = new Output(around, isJson(around, args));
        try {
            var commands = new Commands(List.of(args), taken -> InstalledCommands.find(around, taken, output::warn));
            ParseResult typed = commands.parser().parseArgs(args);
            ParseResult last = typed;
            while (last.hasSubcommand()) {
                last = last.subcommand();
            }
            if (typed.isVersionHelpRequested()) {
                output.help(Commands.NAME + " " + CliEnvironment.version() + "\n");
                return 0;
            }
            if (last.isUsageHelpRequested()) {
                output.help(last.commandSpec().commandLine().getUsageMessage());
                return 0;
            }
            return run(commands.of(last.commandSpec()), around, new TypedFlags(typed), last, output);
        } catch (ParameterException wrong) {
            return report(UsageProblems.of(wrong), output);
        } catch (Output.ReaderGone gone) {
            return 0;
        } catch (CommandException failure) {
            return report(failure, output);
        }
    }

    private static int run(Command command, CliEnvironment around, TypedFlags flags, ParseResult last, Output first) {
        command.check(flags);
        Settings settings = command.settings(around, flags);
        Reports reports = settings.client(Reports::read);
        // The parsed command line is more exact than the glance at it; but another meaning of -o is the command's
        // business.
        Output output = command.hasOwnOutput()
                ? first
                : new Output(around, reports.output().equals("json"));
        Logs.configure(reports.debug(), reports.verbose(), around.err());
        try {
            return command.work().run(new Invocation(around, last, flags, settings, output));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return report(CommandException.of(Kind.INTERRUPTED, "interrupted", null), output);
        } catch (Output.ReaderGone gone) {
            throw gone;
        } catch (RuntimeException failure) {
            if (reports.debug()) {
                failure.printStackTrace(around.err());
                around.err().flush();
            }
            return report(Problems.of(failure, new Problems.Place("the agent", null, false)), output);
        }
    }

    private static int report(CommandException problem, Output output) {
        try {
            output.failure(problem);
        } catch (Output.ReaderGone gone) {
            return problem.exitStatus();
        }
        return problem.exitStatus();
    }

    /** Whether even an unreadable command line is to be answered in JSON; so this looks before it is read. */
    private static boolean isJson(CliEnvironment around, String... args) {
        String format = null;
        for (int i = 0; i < args.length; i++) {
            if ((args[i].equals("-o") || args[i].equals("--output")) && i + 1 < args.length) {
                format = args[++i];
            } else if (args[i].startsWith("--output=")) {
                format = args[i].substring("--output=".length());
            } else if (args[i].startsWith("-o")) {
                format = args[i].substring(2).replaceFirst("^=", "");
            }
        }
        if (format != null) {
            return format.equals("json");
        }
        try {
            return Settings.ofClient(around, Settings.Flags.NONE)
                    .client(Reports::read)
                    .output()
                    .equals("json");
        } catch (CommandException broken) {
            return false; // the command reports it
        }
    }
}
