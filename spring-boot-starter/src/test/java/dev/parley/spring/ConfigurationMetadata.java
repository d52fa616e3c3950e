package dev.parley.spring;

import static java.util.Objects.requireNonNull;

import dev.parley.hub.HubSettings;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingSpec;
import dev.parley.protocol.settings.SettingType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Metadata of the properties {@code parley.…}, from which editors complete them, made from the settings of a hub. */
final class ConfigurationMetadata {
    /** Settings of a port, which a servlet application has itself. */
    private static final Set<String> OF_PORT =
            Set.of("port", "bind", "tls-cert", "tls-key", "tls-client-ca", "admin-port", "admin-bind", "grpc-on-cards");

    private static final Map<SettingType<?>, Class<?>> TYPES = Map.of(
            SettingType.FLAG, Boolean.class,
            SettingType.PORT, Integer.class,
            SettingType.COUNT, Integer.class,
            SettingType.DURATION, java.time.Duration.class,
            SettingType.SIZE, org.springframework.util.unit.DataSize.class,
            SettingType.HTTP_URL, java.net.URI.class);

    private static final Map<String, SettingSpec<?>> SETTINGS = collected();

    private ConfigurationMetadata() {}

    private static Map<String, SettingSpec<?>> collected() {
        var settings = new LinkedHashMap<String, SettingSpec<?>>();
        var unused = HubSettings.read(new SettingReader() {
            @Override
            public <T> @Nullable T read(SettingSpec<T> setting) {
                settings.put(setting.name(), setting);
                return setting.defaultValue();
            }
        });
        return settings;
    }

    /** The names of all settings. */
    static Set<String> settings() {
        return SETTINGS.keySet();
    }

    /** Reads one setting. */
    static @Nullable Object read(SettingReader reader, String name) {
        return reader.read(requireNonNull(SETTINGS.get(name), name));
    }

    /** The text of the file. */
    static String json() {
        var properties = new ArrayList<Map<String, Object>>();
        properties.add(
                property("enabled", "java.lang.Boolean", "Whether the agents of the application are hosted.", true));
        properties.add(property(
                "path",
                "java.lang.String",
                "Path below the context path at which a servlet application serves its agents.",
                "/a2a"));
        properties.add(property(
                "default-agent",
                "java.lang.String",
                "Agent that also answers at the root; the first bean if there is no name.",
                null));
        var hints = new ArrayList<Map<String, Object>>();
        SETTINGS.values().forEach(setting -> {
            properties.add(property(
                    setting.name(),
                    type(setting),
                    setting.description() + (OF_PORT.contains(setting.name()) ? " Not in servlet applications." : ""),
                    setting.fallback()));
            String expected = setting.type().expected();
            if (expected.startsWith("one of ")) {
                hints.add(Map.of(
                        "name", "parley." + setting.name(), "values", choices(expected.substring("one of ".length()))));
            }
        });
        var root = new LinkedHashMap<String, Object>();
        root.put("groups", List.of(Map.of("name", "parley")));
        root.put("properties", properties);
        root.put("hints", hints);
        return JsonMapper.builder()
                        .enable(SerializationFeature.INDENT_OUTPUT)
                        .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
                        .build()
                        .writeValueAsString(root)
                + "\n";
    }

    private static List<Map<String, String>> choices(String values) {
        return List.of(values.split(", ", -1)).stream()
                .map(value -> Map.of("value", value))
                .toList();
    }

    private static String type(SettingSpec<?> setting) {
        if (setting.type().equals(SettingType.LIST) || setting.traits().contains(SettingSpec.Trait.REPEATABLE)) {
            return "java.util.List<java.lang.String>";
        }
        Class<?> type = TYPES.get(setting.type());
        return type == null ? "java.lang.String" : type.getName();
    }

    private static Map<String, Object> property(
            String name, String type, String description, @Nullable Object fallback) {
        var property = new LinkedHashMap<String, Object>();
        property.put("name", "parley." + name);
        property.put("type", type);
        property.put("description", description);
        if (fallback != null) {
            property.put("defaultValue", fallback);
        }
        return property;
    }
}
