package dev.parley.cli.admin;

import static java.util.Objects.requireNonNullElse;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.command.CommandException;
import dev.parley.dialect.Json;
import dev.parley.engine.spi.UnreadableTask;
import dev.parley.hub.Checkup;
import dev.parley.hub.Checkup.Finding;
import dev.parley.hub.admin.HubOperation.Level;
import dev.parley.store.encryption.ValueCipher;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code parley doctor}: checks of a data directory; for operators, not part of A2A. */
public final class DoctorCommand {
    private static final String DEFAULT = "~/.parley";

    private DoctorCommand() {}

    public static Command command() {
        return Command.of(DoctorCommand::run)
                .option("--data", "DIR", "The data directory of a hub, which may be running; default: " + DEFAULT + ".")
                .option(
                        "--encryption-key-file",
                        "FILE",
                        "The keys of the hub; default: encryption.key in the directory.")
                .option("--secrets", "DIR", "The directory of the hub's secrets, if it has one.")
                .settings("output", "verbose", "config", "debug")
                .strict()
                .footer("Exits with 1 if there is a problem.");
    }

    private static int run(Invocation call) {
        Path data = call.existingData(requireNonNullElse(call.option("--data"), DEFAULT));
        List<Finding> findings = Checkup.of(data, secrets(call), keys(call));
        call.output()
                .result(
                        () -> Json.write(Map.of(
                                "checks",
                                findings.stream().map(DoctorCommand::members).toList())),
                        page -> findings.forEach(finding -> page.field(finding.check(), line(finding))));
        return findings.stream().anyMatch(finding -> finding.level() == Level.PROBLEM) ? 1 : 0;
    }

    /** The directory of {@code --secrets}; null without it. */
    public static @Nullable Path secrets(Invocation call) {
        String directory = call.option("--secrets");
        return directory == null ? null : call.path(directory);
    }

    /** The keys of {@code --encryption-key-file}; null without it. */
    public static @Nullable ValueCipher keys(Invocation call) {
        String file = call.option("--encryption-key-file");
        return file == null
                ? null
                : CommandException.reading("invalid encryption key: ", null, () -> ValueCipher.read(call.path(file)));
    }

    private static String level(Finding finding) {
        return finding.level().name().toLowerCase(Locale.ROOT);
    }

    private static String line(Finding finding) {
        UnreadableTask task = finding.task();
        String about =
                task == null ? "" : task.taskId() + " of agent " + task.agent() + ", group " + task.group() + ": ";
        return level(finding) + ", " + about + finding.message();
    }

    private static Map<String, Object> members(Finding finding) {
        var members = new LinkedHashMap<String, Object>();
        members.put("check", finding.check());
        members.put("level", level(finding));
        UnreadableTask task = finding.task();
        if (task != null) {
            members.put("taskId", task.taskId());
            members.put("agent", task.agent());
            members.put("group", task.group());
        }
        members.put("message", finding.message());
        return members;
    }
}
