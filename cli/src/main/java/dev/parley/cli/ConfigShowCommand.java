package dev.parley.cli;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.command.Setting;
import dev.parley.cli.command.Settings;
import dev.parley.cli.command.Settings.GivenValue;
import dev.parley.cli.command.Settings.Source;
import dev.parley.cli.connection.WireLog;
import dev.parley.dialect.Json;
import dev.parley.protocol.settings.SettingSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code parley config show}: each setting, its value and where it comes from. Source: section 8.3. */
final class ConfigShowCommand {
    private ConfigShowCommand() {}

    static Command command() {
        return Command.of(ConfigShowCommand::run)
                .bothScopes()
                .settings("config", "output")
                .footer(
                        "Takes the flags of every command, including up, and shows the settings that they would change.");
    }

    private static int run(Invocation call) {
        Settings settings = call.settings();
        call.output().result(() -> json(settings), page -> {
            for (Setting setting : Setting.all()) {
                GivenValue given = settings.given(setting).orElse(null);
                page.field(
                        setting.shownName(),
                        given == null ? "(unset)" : shown(setting, given) + " (" + source(given) + ")");
            }
        });
        return 0;
    }

    private static byte[] json(Settings settings) {
        var rows = new ArrayList<Map<String, @Nullable Object>>();
        for (Setting setting : Setting.all()) {
            GivenValue given = settings.given(setting).orElse(null);
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("name", setting.shownName());
            row.put("value", given == null ? null : shown(setting, given));
            row.put(
                    "source",
                    (given == null ? Source.DEFAULT : given.source())
                            .name()
                            .toLowerCase(Locale.ROOT)
                            .replace('_', '-'));
            row.put("origin", given == null ? null : given.origin());
            rows.add(row);
        }
        return Json.write(Map.of("settings", rows));
    }

    private static String shown(Setting setting, GivenValue given) {
        return setting.is(SettingSpec.Trait.SECRET) || setting.name().equals("metadata")
                ? WireLog.REDACTED
                : String.join(",", given.texts());
    }

    private static String source(GivenValue given) {
        return switch (given.source()) {
            case ENVIRONMENT -> "environment variable " + given.origin();
            case LOCAL_FILE, GLOBAL_FILE -> String.valueOf(given.origin());
            case FLAG, DEFAULT -> given.source().words();
        };
    }
}
