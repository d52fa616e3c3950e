package dev.parley.cli;

import dev.parley.dialect.Json;
import dev.parley.protocol.settings.SettingType;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code parley group|user|key …}: who may use a hub; for its operator, not part of A2A. */
abstract class MembersCommand implements Command {
    static final String GROUPS = "groups";
    static final String USERS = "users";
    static final String KEYS = "keys";

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(HubAdmin.option());
        spec.addOption(HubAdmin.dataOption());
    }

    @Override
    public List<Setting<?>> relevant() {
        return HubAdmin.SETTINGS;
    }

    private static String required(Invocation call, String option) {
        String value = call.option(option);
        if (value == null) {
            throw CliException.usage("missing " + option, null);
        }
        return value;
    }

    private static void print(Invocation call, Map<?, ?> shown) {
        call.output().result(() -> Json.write(shown), page -> show(page, shown));
    }

    private static void show(TextPage page, Map<?, ?> shown) {
        shown.forEach((name, value) -> page.field(
                label(String.valueOf(name)),
                value instanceof List<?> list
                        ? String.join(" ", list.stream().map(String::valueOf).toList())
                        : value));
    }

    private static String label(String name) {
        return name.equals("id") ? "ID" : Character.toUpperCase(name.charAt(0)) + name.substring(1);
    }

    /** Lists groups, users or keys. */
    static final class ListAll extends MembersCommand {
        private final String what;

        ListAll(String what) {
            this.what = what;
        }

        @Override
        public void describe(CommandSpec spec) {
            if (!what.equals(GROUPS)) {
                spec.addOption(Command.option("--group", "GROUP", "Only those of this group."));
            }
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            String group = what.equals(GROUPS) ? null : call.option("--group");
            Map<String, String> query = group == null ? Map.of() : Map.of("group", group);
            Map<?, ?> answer = HubAdmin.ask(call, "GET", "/" + what, query, null);
            call.output().result(() -> Json.write(answer), page -> {
                if (answer.get(what) instanceof List<?> all) {
                    for (Object one : all) {
                        show(page, (Map<?, ?>) one);
                        page.gap();
                    }
                    page.field("Total-Size", all.size());
                }
            });
            return 0;
        }
    }

    /** Changes one in a way that needs nothing but its name. */
    static final class Change extends MembersCommand {
        private final String what;
        private final String verb;

        Change(String what, String verb) {
            this.what = what;
            this.verb = verb;
        }

        @Override
        public void describe(CommandSpec spec) {
            switch (what) {
                case GROUPS -> spec.addPositional(Command.argument(0, true, "GROUP", "The group."));
                case USERS -> {
                    spec.addPositional(Command.argument(0, true, "GROUP", "The group."));
                    spec.addPositional(Command.argument(1, true, "NAME", "The user."));
                }
                default -> spec.addPositional(Command.argument(0, true, "KEY-ID", "The id of the key, not the key."));
            }
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            String name = HubAdmin.segment(call.requiredArgument(0));
            if (what.equals(USERS)) {
                name += "/" + HubAdmin.segment(call.requiredArgument(1));
            }
            print(call, HubAdmin.ask(call, "POST", "/" + what + "/" + name + "/" + verb, Map.of(), Map.of()));
            return 0;
        }
    }

    /** Makes a group. */
    static final class CreateGroup extends MembersCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(0, true, "GROUP", "Its id, such as the name of a company."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            Map<String, String> body = Map.of("id", call.requiredArgument(0));
            print(call, HubAdmin.ask(call, "POST", "/groups", Map.of(), body));
            return 0;
        }
    }

    /** Makes a user, and the group if need be. */
    static final class CreateUser extends MembersCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(0, true, "GROUP", "The group; made if missing."));
            spec.addPositional(Command.argument(1, true, "NAME", "The user."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            Map<String, String> body = Map.of("group", call.requiredArgument(0), "name", call.requiredArgument(1));
            print(call, HubAdmin.ask(call, "POST", "/users", Map.of(), body));
            return 0;
        }
    }

    /** Makes a key, which is shown this once. */
    static final class CreateKey extends MembersCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addOption(
                    Command.option("--group", "GROUP", "Group whose data the key gives access to; made if missing."));
            spec.addOption(
                    Command.option("--principal", "NAME", "Principal that calls with the key; made if missing."));
            spec.addOption(OptionSpec.builder("--scope")
                    .type(List.class)
                    .auxiliaryTypes(String.class)
                    .arity("1")
                    .paramLabel("SCOPE")
                    .description("Scope of the key; admin is for operators. Repeatable.")
                    .build());
            spec.addOption(
                    Command.option("--expires", "WHEN", "A duration such as 90d, or a date or time; default: never."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            var body = new LinkedHashMap<String, @Nullable Object>();
            body.put("group", required(call, "--group"));
            body.put("principal", required(call, "--principal"));
            List<String> scopes = call.typed().matchedOptionValue("--scope", List.of());
            body.put("scopes", scopes);
            String expires = call.option("--expires");
            if (expires != null) {
                body.put("expires", time(expires).toString());
            }
            print(call, HubAdmin.ask(call, "POST", "/keys", Map.of(), body));
            return 0;
        }

        private static Instant time(String text) {
            try {
                return Instant.now().plus(SettingType.DURATION.parser().apply(text));
            } catch (IllegalArgumentException none) {
                // falls through: it is a time
            }
            try {
                return text.length() == 10
                        ? LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant()
                        : Instant.parse(text);
            } catch (DateTimeParseException neither) {
                throw CliException.usage(
                        "invalid --expires: " + text + " (expected: such as 90d, 2027-01-31 or 2027-01-31T12:00:00Z)",
                        null);
            }
        }
    }

    /** Makes a key that takes over from another. */
    static final class RotateKey extends MembersCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Command.argument(0, true, "KEY-ID", "The id of the key, not the key."));
            spec.addOption(Command.option("--overlap", "DURATION", "How long the old key stays valid; default: 24h."));
            super.describe(spec);
        }

        @Override
        public int run(Invocation call) throws InterruptedException {
            String overlap = call.option("--overlap");
            Map<String, ?> body = overlap == null ? Map.of() : Map.of("overlapSeconds", seconds(overlap));
            String path = "/keys/" + HubAdmin.segment(call.requiredArgument(0)) + "/rotate";
            print(call, HubAdmin.ask(call, "POST", path, Map.of(), body));
            return 0;
        }

        private static long seconds(String text) {
            try {
                Duration overlap = SettingType.DURATION.parser().apply(text);
                return overlap.toSeconds();
            } catch (IllegalArgumentException wrong) {
                throw CliException.usage(
                        "invalid --overlap: " + text + " (expected: " + SettingType.DURATION.expected() + ")", null);
            }
        }
    }
}
