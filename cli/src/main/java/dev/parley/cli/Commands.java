package dev.parley.cli;

import dev.parley.cli.Setting.Scope;
import dev.parley.command.CommandEntry;
import dev.parley.command.CommandSource;
import dev.parley.protocol.settings.SettingSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** All commands by name. Only those that a command line can mean are made, for starting is most of what they cost. */
final class Commands {
    static final String NAME = "parley";

    /** A command or, with commands below it, a word that leads to one. */
    private record Entry(
            String name, String summary, Function<Surroundings, Object> command, List<Entry> below, boolean hidden) {
        static Entry of(String name, String summary, Supplier<Object> command) {
            return new Entry(name, summary, around -> command.get(), List.of(), false);
        }

        /** An operation of the administration, whose row has the summary. */
        static Entry admin(String name, String operation) {
            return of(name, "", () -> new AdminCommand(operation));
        }

        static Entry group(String name, String summary, Entry... below) {
            return new Entry(name, summary, around -> new GroupCommand(), List.of(below), false);
        }

        static Entry of(CommandEntry entry) {
            var command = entry.command();
            return new Entry(
                    entry.name(),
                    entry.summary(),
                    around -> command == null ? new GroupCommand() : new ExtensionCommand(command.get()),
                    entry.below().stream().map(Entry::of).toList(),
                    false);
        }

        /** This group with the commands of another of its name. */
        Entry with(Entry more) {
            if (below.isEmpty() || more.below.isEmpty()) {
                throw new IllegalStateException("command \"" + name + "\": duplicate name");
            }
            var all = new ArrayList<>(below);
            all.addAll(more.below);
            return new Entry(name, summary, command, all, hidden);
        }

        Entry asHidden() {
            return new Entry(name, summary, command, below, true);
        }
    }

    private static final List<Entry> OWN = List.of(
            Entry.of("up", "Start a hub here and host agents on it", UpCommand::new),
            Entry.of("init", "Create a project with an agent, its test and a run command", InitCommand::new),
            Entry.of("run", "Run a single Java file with agents in it", RunCommand::new),
            Entry.of("send", "Send a message to start or continue an interaction", SendCommand::new),
            Entry.group(
                    "task",
                    "Read and control tasks",
                    Entry.of("get", "Show a task, its artifacts and history", TaskGetCommand::new),
                    Entry.of("list", "List tasks", TaskListCommand::new),
                    Entry.of("cancel", "Cancel a task", TaskCancelCommand::new),
                    Entry.of("subscribe", "Follow the events of a task", TaskSubscribeCommand::new),
                    Entry.of("download", "Save the artifacts of a task as files", TaskDownloadCommand::new),
                    Entry.group(
                            "push-config",
                            "Manage the webhooks of a task",
                            Entry.of("create", "Register a webhook", PushConfigCommand.Create::new),
                            Entry.of("get", "Show a webhook", PushConfigCommand.Get::new),
                            Entry.of("list", "List the webhooks of a task", PushConfigCommand.ListAll::new),
                            Entry.of("delete", "Remove a webhook", PushConfigCommand.Delete::new))),
            Entry.group(
                    "card",
                    "Read, sign and verify cards",
                    Entry.of("get", "Fetch and show the card", () -> new CardCommand(false)),
                    Entry.of("validate", "Check the card against the A2A schema", () -> new CardCommand(true)),
                    Entry.of("sign", "Sign a card file", CardSignCommand::new),
                    Entry.of("verify", "Verify that a trusted key has signed the card", CardVerifyCommand::new),
                    Entry.group(
                            "key",
                            "Manage the keys that sign cards",
                            Entry.of("create", "Create a key", CardKeyCommand.Create::new),
                            Entry.of("fetch", "Fetch the keys of a host, for --trust", CardKeyCommand.Fetch::new),
                            Entry.of("public", "Show the public half, for --trust", CardKeyCommand.Public::new))),
            Entry.group(
                    "keys",
                    "Manage the keys for agents",
                    Entry.of("set", "Store a key in the keyring", KeysCommand.Set::new),
                    Entry.of("get", "Show whether a service has a key, and its source", KeysCommand.Get::new),
                    Entry.of("list", "Show the same of every service", KeysCommand.ListAll::new),
                    Entry.of("remove", "Remove the keys of a service from the keyring", KeysCommand.Remove::new)),
            Entry.group(
                    "auth",
                    "Log in at agents that take tokens of users",
                    Entry.of("login", "Get a token through a browser, and keep it", LoginCommand::new)),
            Entry.group(
                    "group",
                    "Manage the groups of a hub, which are isolated from each other",
                    Entry.admin("create", "groups/create"),
                    Entry.admin("list", "groups/list"),
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
                    Entry.of("tail", "Show the newest rows", AuditCommand.Tail::new),
                    Entry.of("query", "Show rows by group, actor, action, target or time", AuditCommand.Query::new),
                    Entry.of("export", "Save rows as JSON lines", AuditCommand.Export::new),
                    Entry.of("verify", "", AdminCommand.Verify::new)),
            Entry.of("doctor", "Check the data directory of a hub, which may be running", DoctorCommand::new),
            Entry.group(
                    "privacy",
                    "Export or erase personal data",
                    Entry.of("export", "Export the data of a user as JSON lines", PrivacyCommand::new),
                    Entry.of("erase", "", AdminCommand.Erase::new)),
            Entry.group(
                    "push",
                    "Manage the webhooks of a hub",
                    Entry.group(
                            "dead-letters",
                            "Manage deliveries that were given up",
                            Entry.admin("list", "webhooks/dead"),
                            Entry.of("redeliver", "", AdminCommand.Redeliver::new)),
                    Entry.of("secret", "", AdminCommand.Secret::new)),
            Entry.group(
                    "config",
                    "Show the configuration",
                    Entry.of("show", "Show each setting and its source", ConfigShowCommand::new)),
            Entry.of("conformance", "Check a live agent with the A2A TCK", ConformanceCommand::new),
            Entry.of("completion", "Print a completion script for a shell", CompletionCommand::new),
            Entry.of("help", "Show usage of the tool or of a command", HelpCommand::new),
            Entry.of("warm-up", "Load the classes of a hub, for the launcher", WarmUpCommand::new)
                    .asHidden());

    /** Commands at the end, before the hidden one. */
    private static final int ABOUT_PROGRAM = 3;

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
            // Behind the commands for agents and hubs, before those about the program itself.
            all.addAll(all.indexOf(OWN.getLast()) - ABOUT_PROGRAM, added.values());
            return List.copyOf(all);
        }
    }

    /** Help lists commands before options, because there are many options. */
    private static final List<String> SECTIONS = List.of(
            UsageMessageSpec.SECTION_KEY_HEADER_HEADING,
            UsageMessageSpec.SECTION_KEY_HEADER,
            UsageMessageSpec.SECTION_KEY_SYNOPSIS_HEADING,
            UsageMessageSpec.SECTION_KEY_SYNOPSIS,
            UsageMessageSpec.SECTION_KEY_DESCRIPTION_HEADING,
            UsageMessageSpec.SECTION_KEY_DESCRIPTION,
            UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING,
            UsageMessageSpec.SECTION_KEY_COMMAND_LIST,
            UsageMessageSpec.SECTION_KEY_PARAMETER_LIST_HEADING,
            UsageMessageSpec.SECTION_KEY_PARAMETER_LIST,
            UsageMessageSpec.SECTION_KEY_OPTION_LIST_HEADING,
            UsageMessageSpec.SECTION_KEY_OPTION_LIST,
            UsageMessageSpec.SECTION_KEY_FOOTER_HEADING,
            UsageMessageSpec.SECTION_KEY_FOOTER);

    private Commands() {}

    /** The commands that {@code args} can mean: one, if they begin with its name, otherwise all. */
    static CommandLine parserFor(List<String> args, Surroundings around) {
        var chosen = chosen(OWN, args);
        if (chosen.isEmpty() || !chosen.getFirst().below().isEmpty()) {
            chosen = chosen(All.ENTRIES, args);
        }
        return parser(chosen.isEmpty() || chosen.getFirst().name().equals("help") ? All.ENTRIES : chosen, around);
    }

    private static List<Entry> chosen(List<Entry> entries, List<String> args) {
        return entries.stream()
                .filter(entry -> !args.isEmpty() && entry.name().equals(args.getFirst()))
                .toList();
    }

    /** All commands. */
    static CommandLine parser(Surroundings around) {
        return parser(All.ENTRIES, around);
    }

    private static CommandLine parser(List<Entry> entries, Surroundings around) {
        CommandSpec root = CommandSpec.wrapWithoutInspection(new GroupCommand()).name(NAME);
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
        settings(root, Scope.CLIENT, List.of());
        standard(root);
        root.addOption(version());
        entries.forEach(entry -> add(root, entry, around));
        CommandLine parser = new CommandLine(root);
        parser.setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(false)
                .setUsageHelpWidth(100)
                .setAbbreviatedOptionsAllowed(false)
                .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF));
        return parser;
    }

    private static void add(CommandSpec parent, Entry entry, Surroundings around) {
        Object command = entry.command().apply(around);
        CommandSpec spec;
        if (command instanceof ExtensionCommand of
                && of.command().getClass().isAnnotationPresent(picocli.CommandLine.Command.class)) {
            spec = new CommandLine(of.command()).getCommandSpec().name(entry.name());
        } else if (command instanceof Command known) {
            spec = CommandSpec.wrapWithoutInspection(command).name(entry.name());
            known.describe(spec);
            if (!(command instanceof GroupCommand)) {
                settings(spec, known.scope(), known.relevant());
            }
        } else {
            spec = new CommandLine(command).getCommandSpec().name(entry.name()); // annotated
        }
        standard(spec);
        String summary = command instanceof AdminCommand derived ? derived.summary() : entry.summary();
        spec.usageMessage().header(summary + ".");
        spec.usageMessage().hidden(entry.hidden());
        entry.below().forEach(below -> add(spec, below, around));
        parent.addSubcommand(entry.name(), spec);
    }

    private static void standard(CommandSpec spec) {
        spec.addOption(OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .type(Boolean.class)
                .arity("0")
                .description("Show this help and exit.")
                .build());
        spec.usageMessage()
                .sortOptions(false)
                .synopsisHeading("%nUsage: ")
                .abbreviateSynopsis(true)
                .sectionKeys(SECTIONS)
                .parameterListHeading("%n")
                .optionListHeading("%n")
                .commandListHeading("%nCommands:%n");
    }

    private static OptionSpec version() {
        return OptionSpec.builder("-v", "--version")
                .versionHelp(true)
                .type(Boolean.class)
                .arity("0")
                .description("Show the version and exit.")
                .build();
    }

    /** Adds the flags of a scope's settings, those that matter first; the rest work but are not listed. */
    private static void settings(CommandSpec spec, Scope scope, List<Setting<?>> relevant) {
        Map<Setting<?>, Boolean> shown = new LinkedHashMap<>();
        relevant.forEach(setting -> shown.put(setting, true));
        if (scope == Scope.CLIENT || relevant.isEmpty()) {
            Setting.of(scope).forEach(setting -> shown.putIfAbsent(setting, relevant.isEmpty()));
        }
        shown.forEach((setting, visible) -> {
            if (spec.findOption(setting.flag()) == null) {
                spec.addOption(option(setting, visible));
            }
        });
        if (scope == Scope.CLIENT && spec.findOption("--stream") == null) {
            spec.addOption(OptionSpec.builder("--stream")
                    .type(Boolean.class)
                    .arity("0")
                    .hidden(true)
                    .description("Follow live; with -o json one document per line.")
                    .build());
        }
    }

    /** The flag of a setting. */
    static OptionSpec option(Setting<?> setting, boolean visible) {
        var names = new ArrayList<String>(setting.other());
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
        option.paramLabel(setting.label()).arity("1");
        return setting.is(SettingSpec.Trait.REPEATABLE)
                ? option.type(List.class).auxiliaryTypes(String.class).build()
                : option.type(String.class).build();
    }

    private static String description(Setting<?> setting) {
        String text = setting.description().replace("%", "%%");
        return setting.fallback() == null || setting.isFlag() ? text : text + " Default: " + setting.fallback() + ".";
    }
}
