package dev.parley.cli;

import dev.parley.command.ProgramCommand;
import dev.parley.hub.Hub;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
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
        Surroundings around = surroundings(interruption);
        if (args.length > 0 && args[0].equals("up")) {
            Hub.prepare(); // beside reading the command line and the settings
        }
        int status = run(around, args);
        interruption.clear();
        System.exit(status);
    }

    private static Surroundings surroundings(Interruption interruption) {
        // The labels, numbers and escapes are a contract with scripts, whatever the locale of the machine.
        Locale.setDefault(Locale.ROOT);
        Logs.quiet();
        return new Surroundings(
                System.in,
                stream(FileDescriptor.out),
                stream(FileDescriptor.err),
                System.getenv(),
                Path.of("").toAbsolutePath(),
                Path.of(System.getProperty("user.home")),
                interruption,
                isErrTerminal());
    }

    private static PrintStream stream(FileDescriptor descriptor) {
        return new PrintStream(
                new BufferedOutputStream(new FileOutputStream(descriptor), 8192), false, StandardCharsets.UTF_8);
    }

    /** Java knows only whether all three streams are terminals; Linux also knows it of each. */
    @SuppressWarnings("SystemConsoleNull") // it is null without a terminal, once java.base is the one to make it
    private static boolean isErrTerminal() {
        try {
            String device = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty");
        } catch (IOException | UnsupportedOperationException elsewhere) {
            System.setProperty("jdk.console", "java.base");
            return System.console() != null;
        }
    }

    /**
     * Runs one command line.
     *
     * @return the exit status
     */
    static int run(Surroundings around, String... args) {
        var output = new Output(around, isJson(around, args));
        try {
            CommandLine parser = Commands.parserFor(List.of(args), around);
            ParseResult typed = parser.parseArgs(args);
            ParseResult last = typed;
            while (last.hasSubcommand()) {
                last = last.subcommand();
            }
            if (typed.isVersionHelpRequested()) {
                output.print(Commands.NAME + " " + version() + "\n");
                return 0;
            }
            if (last.isUsageHelpRequested()) {
                output.print(last.commandSpec().commandLine().getUsageMessage());
                return 0;
            }
            return run(around, typed, last, output);
        } catch (ParameterException wrong) {
            Problem problem = UsageProblems.of(wrong);
            output.failure(problem);
            return problem.exitStatus();
        } catch (Output.ReaderGone gone) {
            return 0;
        } catch (CliException failure) {
            return report(failure.problem(), output);
        }
    }

    private static int run(Surroundings around, ParseResult typed, ParseResult last, Output first) {
        if (last.commandSpec().userObject() instanceof ProgramCommand annotated) {
            return run(annotated, around, last, first);
        }
        var command = (Command) last.commandSpec().userObject();
        var flags = new TypedFlags(typed);
        Settings settings = command.settings(around, flags);
        // The command line, read, says it better than the glance at it before; and a wrong format is noticed here.
        var output = new Output(around, settings.require(Setting.OUTPUT).equals("json"));
        boolean debug = Logs.wanted(settings, Setting.DEBUG);
        try {
            Logs.configure(debug, Logs.wanted(settings, Setting.VERBOSE), around.err());
            return command.run(new Invocation(around, last, flags, settings, output));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return report(Problem.local(LocalError.INTERRUPTED, "interrupted", null), output);
        } catch (Output.ReaderGone gone) {
            throw gone;
        } catch (RuntimeException failure) {
            if (debug) {
                failure.printStackTrace(around.err());
                around.err().flush();
            }
            return report(Problems.of(failure, new Problems.Place("the agent", null, false)), output);
        }
    }

    /** Runs a command that declares its own options by annotations. */
    private static int run(ProgramCommand annotated, Surroundings around, ParseResult last, Output output) {
        try {
            var flags = new TypedFlags(last);
            Settings settings = Settings.ofClient(around, setting -> List.of());
            return annotated.run(new ExtensionCommand.Call(new Invocation(around, last, flags, settings, output)));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return report(Problem.local(LocalError.INTERRUPTED, "interrupted", null), output);
        } catch (RuntimeException failure) {
            return report(Problems.of(failure, new Problems.Place("the agent", null, false)), output);
        }
    }

    private static int report(Problem problem, Output output) {
        try {
            output.failure(problem);
        } catch (Output.ReaderGone gone) {
            return problem.exitStatus();
        }
        return problem.exitStatus();
    }

    /** Whether even an unreadable command line is to be answered in JSON; so this looks before it is read. */
    private static boolean isJson(Surroundings around, String... args) {
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
            return "json".equals(Settings.ofClient(around, setting -> List.of()).get(Setting.OUTPUT));
        } catch (CliException broken) {
            return false; // the command will find out too, and say so
        }
    }

    /** The version that the build gave this program. */
    static String version() {
        String version = Main.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
