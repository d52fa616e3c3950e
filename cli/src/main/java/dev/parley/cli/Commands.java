package dev.parley.cli;

import static java.util.Objects.requireNonNull;

import dev.parley.cli.admin.AdminCommand;
import dev.parley.cli.admin.DoctorCommand;
import dev.parley.cli.admin.HealthCommand;
import dev.parley.cli.admin.RecordCommands;
import dev.parley.cli.admin.SecretsCommands;
import dev.parley.cli.cards.CardCommands;
import dev.parley.cli.cards.CardKeyCommands;
import dev.parley.cli.cards.KeysCommands;
import dev.parley.cli.cards.LoginCommand;
import dev.parley.cli.command.Command;
import dev.parley.cli.command.Setting;
import dev.parley.cli.connection.CommandSources;
import dev.parley.cli.host.BackupCommand;
import dev.parley.cli.host.ConformanceCommand;
import dev.parley.cli.host.InitCommand;
import dev.parley.cli.host.MigrateCommand;
import dev.parley.cli.host.RestoreCommand;
import dev.parley.cli.host.RunCommand;
import dev.parley.cli.host.UpCommand;
import dev.parley.cli.task.PushConfigCommands;
import dev.parley.cli.task.SendCommand;
import dev.parley.cli.task.TaskCommands;
import dev.parley.cli.task.TaskDownloadCommand;
import dev.parley.cli.task.TaskListCommand;
import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** All commands by name. Only those that a command line can mean are made, for starting is most of what they cost. */
final class Commands {
    static final String NAME = "parley";

    /** A command or, with commands below it, a word that leads to one. */
    private record Entry(String name, Supplier<Command> command, List<Entry> below) {
        static Entry of(String name, String summary, Supplier<Command> command) {
            return new Entry(name, () -> command.get().summary(summary), List.of());
        }

        /** An operation of the administration, whose row has the summary. */
        static Entry admin(String name, String operation) {
            return new Entry(name, () -> AdminCommand.of(operation), List.of());
        }

        static Entry group(String name, String summary, Entry... below) {
            return new Entry(name, () -> Command.group(HelpCommand::list).summary(summary), List.of(below));
        }

        static Entry of(CommandEntry entry) {
            var command = entry.command();
            Supplier<Command> made =
                    () -> command == null ? Command.group(HelpCommand::list) : ExtensionCall.command(command.get());
            return new Entry(
                    entry.name(),
                    () -> made.get().summary(entry.summary()),
                    entry.below().stream().map(Entry::of).toList());
        }

        /** This group with the commands of another of its name. */
        Entry with(Entry more) {
            if (below.isEmpty() || more.below.isEmpty()) {
                throw new IllegalStateException("command \"" + name + "\": duplicate name");
            }
            var all = new ArrayList<>(below);
            all.addAll(more.below);
            return new Entry(name, command, all);
        }
    }

    private static final List<Entry> OWN = List.of(
            Entry.of("up", "Start a hub here and host agents on it", UpCommand::command),
            Entry.of("init", "Create a project with an agent, its test and a run command", InitCommand::command),
            Entry.of("run", "Run a single Java file with agents in it, or a task of an agent", RunCommand::command),
            Entry.of("send", "Send a message to start or continue an interaction", SendCommand::command),
            Entry.group(
                    "task",
                    "Read and control tasks",
                    Entry.of("get", "Show a task, its artifacts and history", TaskCommands::get),
                    Entry.of("list", "List tasks", TaskListCommand::command),
                    Entry.of("cancel", "Cancel a task", TaskCommands::cancel),
                    Entry.of("subscribe", "Follow the events of a task", TaskCommands::subscribe),
                    Entry.of("download", "Save the artifacts of a task as files", TaskDownloadCommand::command),
                    Entry.group(
                            "push-config",
                            "Manage the webhooks of a task",
                            Entry.of("create", "Register a webhook", PushConfigCommands::create),
                            Entry.of("get", "Show a webhook", PushConfigCommands::get),
                            Entry.of("list", "List the webhooks of a task", PushConfigCommands::list),
                            Entry.of("delete", "Remove a webhook", PushConfigCommands::delete))),
            Entry.group(
                    "card",
                    "Read, sign and verify cards",
                    Entry.of("get", "Fetch and show the card", CardCommands::get),
                    Entry.of("validate", "Check the card against the A2A schema", CardCommands::validate),
                    Entry.of("sign", "Sign a card file", CardCommands::sign),
                    Entry.of("verify", "Verify that a trusted key has signed the card", CardCommands::verify),
                    Entry.group(
                            "key",
                            "Manage the keys that sign cards",
                            Entry.of("create", "Create a key", CardKeyCommands::create),
                            Entry.of("fetch", "Fetch the keys of a host, for --trust", CardKeyCommands::fetch),
                            Entry.of("public", "Show the public half, for --trust", CardKeyCommands::publicHalf))),
            Entry.group(
                    "keys",
                    "Manage the keys for agents",
                    Entry.of("set", "Store a key in the keyring", KeysCommands::set),
                    Entry.of("get", "Show whether a service has a key, and its source", KeysCommands::get),
                    Entry.of("list", "Show which services have a key, and its source", KeysCommands::list),
                    Entry.of("remove", "Remove the keys of a service from the keyring", KeysCommands::remove)),
            Entry.group(
                    "auth",
                    "Log in at agents that take tokens of users",
                    Entry.of("login", "Get a token through a browser, and keep it", LoginCommand::command)),
            Entry.group(
                    "hub",
                    "Show, check and drain hubs",
                    Entry.admin("list", "hubs/list"),
                    Entry.admin("check", "hubs/check"),
                    Entry.of("health", "Ask whether a hub answers, for health checks", HealthCommand::command),
                    Entry.admin("drain", "hubs/drain"),
                    Entry.admin("resume", "hubs/resume")),
            Entry.group(
                    "group",
                    "Manage the groups of a hub, which are isolated from each other",
                    Entry.admin("create", "groups/create"),
                    Entry.admin("list", "groups/list"),
                    Entry.admin("usage", "groups/usage"),
                    Entry.admin("archive", "groups/archive"),
                    Entry.admin("restore", "groups/restore")),
            Entry.group(
                    "user",
                    "Manage the users of a hub",
                    Entry.admin("create", "users/create"),
                    Entry.admin("list", "users/list"),
                    Entry.admin("disable", "users/disable"),
                    Entry.admin("enable", "users/enable")),
            Entry.group(
                    "key",
                    "Manage the API keys of users",
                    Entry.admin("create", "keys/create"),
                    Entry.admin("list", "keys/list"),
                    Entry.admin("rotate", "keys/rotate"),
                    Entry.admin("revoke", "keys/revoke")),
            Entry.group(
                    "audit",
                    "Read the audit log of a hub",
                    Entry.of("tail", "Show the newest rows", RecordCommands::tail),
                    Entry.of("query", "Show rows by group, actor, action, target or time", RecordCommands::query),
                    Entry.of("export", "Save rows as JSON lines", RecordCommands::exportAudit),
                    Entry.admin("verify", "audit/verify")),
            Entry.of("doctor", "Check the data directory of a hub, which may be running", DoctorCommand::command),
            Entry.of(
                    "backup", "Save the data directory of a hub in a file, also while it runs", BackupCommand::command),
            Entry.of("restore", "Make a data directory of a file of parley backup", RestoreCommand::command),
            Entry.of("migrate", "Move the data of a hub from SQLite to PostgreSQL", MigrateCommand::command),
            Entry.group(
                    "secrets",
                    "Bring the secrets of a hub to others on the same database",
                    Entry.of("export", "Save the secrets of a data directory in a file", SecretsCommands::exportAll),
                    Entry.of("import", "Put secrets of a file into a data directory", SecretsCommands::importAll),
                    Entry.of("forget", "Have a database accept another secret", SecretsCommands::forget)),
            Entry.group(
                    "privacy",
                    "Export or erase personal data",
                    Entry.of("export", "Export the data of a user as JSON lines", RecordCommands::exportPersonal),
                    Entry.admin("erase", "privacy/erase")),
            Entry.group(
                    "push",
                    "Manage the webhooks of a hub",
                    Entry.group(
                            "dead-letters",
                            "Manage deliveries that were given up",
                            Entry.admin("list", "webhooks/dead"),
                            Entry.admin("redeliver", "webhooks/redeliver")),
                    Entry.admin("waiting", "webhooks/waiting"),
                    Entry.admin("secret", "webhooks/secret")),
            Entry.group(
                    "config",
                    "Show the configuration, and manage keys as AgentVault does",
                    Entry.of("show", "Show each setting and its source", ConfigShowCommand::command),
                    Entry.admin("hub", "settings"),
                    Entry.of("set", "Tell where the key of a service belongs, or keep it", KeysCommands::configSet),
                    Entry.of("get", "Show whether a service has a key, and its source", KeysCommands::configGet),
                    Entry.of("list", "Show which services have a key, and its source", KeysCommands::list)),
            Entry.of("conformance", "Check a live agent with the A2A TCK", ConformanceCommand::command),
            Entry.of("completion", "Print a completion script for a shell", HelpCommand::completion),
            Entry.of("help", "Show usage of the tool or of a command", HelpCommand::help),
            Entry.of("warm-up", "Load the classes of a hub, for the launcher", WarmUpCommand::command));

    /** Commands at the end, before the hidden one. */
    private static final int ABOUT_PROGRAM = 3;

    /** Commands that look at all others. */
    private static final Set<String> ABOUT_ALL = Set.of("help", "completion", "warm-up");

    /** The program's commands and those of extensions. In a class of its own, because few command lines need them. */
    private static final class All {
        private static final List<Entry> ENTRIES = all();

        private static List<Entry> all() {
            Map<String, Entry> added = new LinkedHashMap<>();
            for (CommandSource source : CommandSources.ALL) {
                source.commands().forEach(entry -> added.merge(entry.name(), Entry.of(entry), Entry::with));
            }
            var all = new ArrayList<Entry>();
            for (Entry own : OWN) {
                Entry more = added.remove(own.name());
                all.add(more == null ? own : own.with(more));
            }
            return before(all, added.values());
        }

        /** Puts commands after those for agents and hubs, before those about the program itself. */
        private static List<Entry> before(List<Entry> own, Collection<Entry> added) {
            var all = new ArrayList<>(own);
            all.addAll(all.size() - 1 - ABOUT_PROGRAM, added);
            return List.copyOf(all);
        }

        /** With the commands of installed extensions. */
        private static List<Entry> with(Function<Set<String>, List<CommandEntry>> installed) {
            Set<String> names = ENTRIES.stream().map(Entry::name).collect(Collectors.toSet());
            return before(
                    ENTRIES, installed.apply(names).stream().map(Entry::of).toList());
        }
    }

    private final IdentityHashMap<CommandSpec, Command> commands = new IdentityHashMap<>();
    private final CommandLine parser;

    /**
     * The commands that {@code args} can mean: one, if they begin with its name, otherwise all.
     *
     * @param installed finds those of installed extensions, for which the names of all others are taken
     */
    Commands(List<String> args, Function<Set<String>, List<CommandEntry>> installed) {
        var chosen = chosen(OWN, args);
        if (chosen.isEmpty() || !chosen.getFirst().below().isEmpty()) {
            chosen = chosen(All.ENTRIES, args);
        }
        if (isAboutAll(chosen)) {
            List<Entry> all = All.with(installed);
            chosen = chosen(all, args);
            chosen = isAboutAll(chosen) ? all : chosen;
        }
        CommandSpec root = spec(Command.of(HelpCommand::list).settings(Setting.of(Setting.Scope.CLIENT)), NAME, chosen);
        root.usageMessage()
                .header("Calls A2A agents, and hosts them.")
                .description(
                        "",
                        "First steps:",
                        "  parley up                                                    start a hub with demo agents",
                        "  parley send -a http://127.0.0.1:7420/agents/echo hello       call one of them",
                        "  parley run Hello.java                                        run a file with your agents",
                        "  parley init hello                                            create a project with an agent")
                .footer(
                        "",
                        "Sources of a setting, highest precedence first: its flag, the environment (A2ACLI_…, for up",
                        "PARLEY_…), the file of --config, else a .env here or above, ~/.config/a2a-cli/.env.",
                        "Exit status: 0 done, 1 failed, 2 usage, 3 unreachable, 4 authentication, 5 timeout.");
        root.addOption(OptionSpec.builder("-v", "--version")
                .versionHelp(true)
                .type(Boolean.class)
                .arity("0")
                .description("Show the version and exit.")
                .build());
        parser = new CommandLine(root)
                .setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(false)
                .setUsageHelpWidth(100)
                .setAbbreviatedOptionsAllowed(false)
                .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF));
    }

    CommandLine parser() {
        return parser;
    }

    /** The command of a specification that {@link #parser} has found. */
    Command of(CommandSpec spec) {
        return requireNonNull(commands.get(spec), spec.name());
    }

    private static List<Entry> chosen(List<Entry> entries, List<String> args) {
        return entries.stream()
                .filter(entry -> !args.isEmpty() && entry.name().equals(args.getFirst()))
                .toList();
    }

    private static boolean isAboutAll(List<Entry> chosen) {
        return chosen.isEmpty() || ABOUT_ALL.contains(chosen.getFirst().name());
    }

    private CommandSpec spec(Command command, String name, List<Entry> below) {
        CommandSpec spec = command.spec().name(name);
        commands.put(spec, command);
        // Help lists commands before options, because there are many options.
        var sections = new ArrayList<>(spec.usageMessage().sectionKeys());
        var list =
                List.of(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, UsageMessageSpec.SECTION_KEY_COMMAND_LIST);
        sections.removeAll(list);
        sections.addAll(sections.indexOf(UsageMessageSpec.SECTION_KEY_PARAMETER_LIST_HEADING), list);
        spec.usageMessage()
                .sortOptions(false)
                .synopsisHeading("%nUsage: ")
                .abbreviateSynopsis(true)
                .sectionKeys(sections)
                .parameterListHeading("%n")
                .optionListHeading("%n")
                .commandListHeading("%nCommands:%n");
        for (Entry entry : below) {
            spec.addSubcommand(entry.name(), spec(entry.command().get(), entry.name(), entry.below()));
        }
        return spec;
    }
}
