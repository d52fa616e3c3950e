package dev.parley.cli.command;

import dev.parley.cli.command.ClientFlags.Agent;
import dev.parley.cli.command.ClientFlags.Credentials;
import dev.parley.cli.command.ClientFlags.KeyStore;
import dev.parley.cli.command.ClientFlags.Reports;
import dev.parley.cli.command.ClientFlags.Tls;
import dev.parley.cli.command.Setting.Scope;
import dev.parley.cli.command.Settings.Flags;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.command.CommandException;
import dev.parley.command.Parameters;
import dev.parley.command.RowParameters;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.settings.SettingSpec.Trait;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** A command of the program: its parameters, its settings, and its work. */
public final class Command {
    /** Work of a command. */
    @FunctionalInterface
    public interface Work {
        /**
         * Runs the command.
         *
         * @return the exit status
         * @throws CommandException if it fails; the program reports it
         */
        int run(Invocation call) throws InterruptedException;
    }

    private final CommandSpec spec;
    private Work work;
    private BiFunction<CliEnvironment, Flags, Settings> files = Settings::ofClient;
    private List<Setting> options = List.of();
    private boolean takesClientSettings = true;
    private boolean ownOutput;
    private boolean strict;
    private int arguments;

    private Command(CommandSpec spec, Work work) {
        this.spec = spec;
        this.work = work;
    }

    /** A command without parameters. */
    public static Command of(Work work) {
        return new Command(CommandSpec.create(), work);
    }

    /** A command whose parameters are declared already. */
    public static Command of(CommandSpec spec, Work work) {
        return new Command(spec, work);
    }

    /** A word that leads to other commands. */
    public static Command group(Work work) {
        return of(work).withoutSettings();
    }

    /** Returns the command with the options of its settings, after its own, and with the one for help. */
    public CommandSpec spec() {
        if (takesClientSettings && options.isEmpty()) {
            agent();
        }
        options.forEach(setting -> addUnlessThere(option(setting, true)));
        if (takesClientSettings && !strict) {
            // The settings are global, so each command takes the flags of all, and hides those that mean nothing to it.
            Setting.of(Scope.CLIENT).forEach(setting -> addUnlessThere(option(setting, false)));
            addUnlessThere(OptionSpec.builder("--stream")
                    .type(Boolean.class)
                    .arity("0")
                    .hidden(true)
                    .description("Follow live; with -o json one document per line.")
                    .build());
        }
        addUnlessThere(OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .type(Boolean.class)
                .arity("0")
                .description("Show this help and exit.")
                .build());
        return spec;
    }

    public Work work() {
        return work;
    }

    /** True if {@code --output} has a meaning of its own. */
    public boolean hasOwnOutput() {
        return ownOutput;
    }

    public Settings settings(CliEnvironment around, Flags flags) {
        return files.apply(around, flags);
    }

    /** Adds the next argument, which is required. */
    public Command argument(String label, String description) {
        spec.addPositional(Parameters.argument(arguments++, true, label, description));
        return this;
    }

    /** Adds arguments and options of an operation's row. */
    public Command parameters(List<RestParameter> parameters) {
        RowParameters.describe(spec, parameters);
        arguments = spec.positionalParameters().size();
        return this;
    }

    /** Adds the next argument, which may be left out. */
    public Command optional(String label, String description) {
        spec.addPositional(Parameters.argument(arguments++, false, label, description));
        return this;
    }

    /** Adds any number of arguments after the others. */
    public Command rest(String label, String description) {
        spec.addPositional(PositionalParamSpec.builder()
                .index(arguments + "..*")
                .arity("0..*")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .paramLabel(label)
                .description(description)
                .build());
        return this;
    }

    /** Adds an option with a value that belongs to this command only and is not a setting. */
    public Command option(String name, String label, String description) {
        return option(Parameters.option(name, label, description));
    }

    public Command option(OptionSpec option) {
        spec.addOption(option);
        return this;
    }

    /** An option with a short and a long name. */
    public static OptionSpec named(String brief, String name, String label, String description) {
        return OptionSpec.builder(brief, name)
                .type(String.class)
                .arity("1")
                .paramLabel(label)
                .description(description)
                .build();
    }

    /** Adds an option without a value. */
    public Command flag(String name, String description) {
        return option(Parameters.flag(name, description));
    }

    /** Adds {@code --stream}, which is never read from the environment or a file. */
    public Command stream() {
        return flag("--stream", "Show each event as it comes; with -o json one document per line.");
    }

    /** Has {@code check} look at the command line before the work begins, and throw if it is wrong. */
    public Command checking(Consumer<Invocation> check) {
        Work checked = work;
        work = call -> {
            check.accept(call);
            return checked.run(call);
        };
        return this;
    }

    /** Adds lines at the end of the help. */
    public Command footer(String... lines) {
        spec.usageMessage()
                .footer(Stream.concat(Stream.of(""), Stream.of(lines)).toArray(String[]::new));
        return this;
    }

    public Command summary(String summary) {
        spec.usageMessage().header(summary + ".");
        return this;
    }

    /** Has the help list settings of the request by their names, and those for calls of agents. */
    public Command agent(String... request) {
        options = Stream.concat(
                        Stream.of(request).map(Setting::client),
                        Setting.of(in -> List.of(
                                        Agent.read(in),
                                        Tls.read(in),
                                        Credentials.read(in),
                                        KeyStore.read(in),
                                        Reports.read(in)))
                                .stream())
                .toList();
        return this;
    }

    /** Has the help list only the settings of these names. */
    public Command settings(String... names) {
        return settings(Stream.of(names).map(Setting::client).toList());
    }

    public Command settings(List<Setting> shown) {
        options = shown;
        return this;
    }

    /** Has the command refuse settings without an effect on it. The A2A CLI specification has its own commands take all. */
    public Command strict() {
        strict = true;
        return this;
    }

    /**
     * Checks options that stand before the name of the command.
     *
     * @throws CommandException if the command refuses one
     */
    public void check(TypedFlags flags) {
        if (strict) {
            flags.outer()
                    .filter(option -> Stream.of(option.names()).noneMatch(spec.optionsMap()::containsKey))
                    .findFirst()
                    .ifPresent(option -> {
                        throw CommandException.usage(
                                option.longestName() + ": no effect on this command",
                                spec.qualifiedName() + " --help lists its options");
                    });
        }
    }

    /** Leaves the command out of lists. */
    public Command hidden() {
        spec.usageMessage().hidden(true);
        return this;
    }

    public Command withoutSettings() {
        takesClientSettings = false;
        return this;
    }

    /** Has the command run a hub, with the settings of one. */
    public Command hub() {
        files = Settings::ofHub;
        var all = new ArrayList<>(Setting.of(Scope.HUB));
        Stream.of("verbose", "debug", "output").map(Setting::client).forEach(all::addFirst);
        return settings(all).withoutSettings();
    }

    /** Has the command read the settings of both scopes, by their flags, too. */
    public Command bothScopes() {
        files = Settings::ofBoth;
        Setting.of(Scope.HUB).stream()
                .filter(setting -> !setting.is(Trait.NOT_IN_FILES))
                .forEach(setting -> spec.addOption(option(setting, false)));
        return this;
    }

    /** Has options that the command has by now mean no setting of the same name. */
    public Command ownOptions() {
        var own = new ArrayList<>(spec.optionsMap().keySet());
        ownOutput = own.contains("--output");
        files = (around, flags) -> Settings.ofClient(around, flags.except(setting -> own.contains(setting.flag())));
        return this;
    }

    private void addUnlessThere(OptionSpec option) {
        if (Stream.of(option.names()).noneMatch(spec.optionsMap()::containsKey)) {
            spec.addOption(option);
        }
    }

    /** The flag of a setting. */
    private static OptionSpec option(Setting setting, boolean visible) {
        var names = new ArrayList<>(setting.other());
        names.add(setting.flag());
        OptionSpec.Builder option = OptionSpec.builder(names.toArray(String[]::new))
                .hidden(!visible)
                .description(description(setting));
        if (setting.isFlag()) {
            // The value is for taking back what the environment or a file says: --async=false.
            return option.type(Boolean.class)
                    .arity("0..1")
                    .fallbackValue("true")
                    .paramLabel("BOOL")
                    .build();
        }
        option.paramLabel(setting.spec().label()).arity("1");
        return setting.is(Trait.REPEATABLE)
                ? option.type(List.class).auxiliaryTypes(String.class).build()
                : option.type(String.class).build();
    }

    private static String description(Setting setting) {
        String text = setting.spec().description().replace("%", "%%");
        String fallback = setting.spec().fallback();
        return fallback == null || setting.isFlag() ? text : text + " Default: " + fallback + ".";
    }
}
