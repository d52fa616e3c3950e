package dev.parley.cli.command;

import dev.parley.command.CommandException;
import dev.parley.protocol.settings.SettingSpec;
import dev.parley.protocol.support.Nearest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.dataformat.yaml.YAMLFactory;

/**
 * The settings file of a hub: YAML, the names of the flags as keys, a list where a flag may be repeated.
 *
 * <p>Strict: a key that is not in the table is refused by name, so that a misspelt one is not ignored for months.
 */
public record HubFile(Path file, Map<String, String> values) {
    public static HubFile read(Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (NoSuchFileException missing) {
            throw CommandException.usage("no such file: " + file, "name a YAML file, or leave --config out");
        } catch (IOException unreadable) {
            throw CommandException.usage(
                    "cannot read " + file + ": " + unreadable.getMessage(), "name a readable UTF-8 file");
        }
        var factory = YAMLFactory.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .build();
        try (JsonParser in = factory.createParser(tools.jackson.core.ObjectReadContext.empty(), text)) {
            return new HubFile(file, values(file, in));
        } catch (JacksonException malformed) {
            var at = malformed.getLocation();
            String line = at == null ? "" : ", line " + at.getLineNr();
            throw CommandException.usage(
                    file + line + ": " + malformed.getOriginalMessage(), "expected: YAML, one 'name: value' per line");
        }
    }

    private static Map<String, String> values(Path file, JsonParser in) {
        var values = new LinkedHashMap<String, String>();
        JsonToken start = in.nextToken();
        if (start == null || start == JsonToken.VALUE_NULL) {
            return values;
        }
        if (start != JsonToken.START_OBJECT) {
            throw CommandException.usage(file + ": not a mapping", "expected: YAML, one 'name: value' per line");
        }
        for (String name = in.nextName(); name != null; name = in.nextName()) {
            Setting setting = setting(file, name, in.currentTokenLocation().getLineNr());
            in.nextToken();
            values.put(setting.name(), value(file, setting, in));
        }
        return values;
    }

    private static Setting setting(Path file, String name, int line) {
        Map<String, Setting> settings = Setting.of(Setting.Scope.HUB).stream()
                .filter(row -> !row.is(SettingSpec.Trait.NOT_IN_FILES))
                .collect(Collectors.toMap(Setting::name, row -> row, (one, other) -> one, LinkedHashMap::new));
        Setting setting = settings.get(name);
        if (setting == null) {
            throw CommandException.usage(
                    file + ", line " + line + ": unknown setting " + name,
                    "did you mean " + Nearest.to(name, settings.keySet()) + "? All: "
                            + String.join(", ", settings.keySet()));
        }
        return setting;
    }

    private static String value(Path file, Setting setting, JsonParser in) {
        if (in.currentToken().isScalarValue()) {
            return in.currentToken() == JsonToken.VALUE_NULL ? "" : in.getString();
        }
        if (in.currentToken() == JsonToken.START_ARRAY && setting.is(SettingSpec.Trait.REPEATABLE)) {
            var elements = new ArrayList<String>();
            while (in.nextToken() != JsonToken.END_ARRAY) {
                if (!in.currentToken().isScalarValue()) {
                    break;
                }
                elements.add(in.getString());
            }
            if (in.currentToken() == JsonToken.END_ARRAY) {
                return String.join(",", elements);
            }
        }
        throw CommandException.usage(
                file + ": " + setting.name() + " has members of its own",
                "expected: " + setting.spec().type().expected());
    }
}
