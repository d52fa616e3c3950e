package dev.parley.spring;

import dev.parley.protocol.support.Nearest;
import java.lang.System.Logger.Level;
import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * Refuses properties {@code parley.NAME} that nothing reads: a misspelt one would leave a default in force.
 *
 * <p>Variables of the process and of the JVM are not refused. The program {@code parley} and its clients read some, such as {@code
 * PARLEY_KEY}, and an orchestrator sets others, such as {@code PARLEY_SERVICE_HOST}. One that is near the name of a setting is logged.
 */
final class PropertyNames {
    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("parley");
    private static final String CLIENTS = "clients";
    private static final List<String> OF_CLIENT = List.of("url", "api-key", "bearer", "deduplicates");

    private static final System.Logger LOG = System.getLogger("dev.parley.spring");

    private PropertyNames() {}

    /**
     * Checks all properties but those of clients.
     *
     * @param settings names of all settings of the hub
     * @throws IllegalArgumentException if one is neither a setting nor a property of the starter
     */
    static void requireKnown(Environment environment, Collection<String> settings) {
        var known = new TreeMap<String, String>(); // by the names as Spring Boot compares them
        settings.forEach(name -> known.put(uniform(name), name));
        for (RecordComponent component : ParleyProperties.class.getRecordComponents()) {
            String name = DataObjectPropertyName.toDashedForm(component.getName());
            known.put(uniform(name), name);
        }
        forEach(environment, (name, source) -> {
            if (isOfClients(name)) {
                return;
            }
            String word = word(name);
            if (isOfProcess(source)) {
                Nearest.misspelt(word, known.keySet())
                        .ifPresent(near -> LOG.log(Level.WARNING, problem(name, source, known.get(near))));
            } else if (!known.containsKey(name.getElement(1, Form.UNIFORM)) || !hasIndexesFrom(2, name)) {
                throw new IllegalArgumentException(problem(name, source, known.get(Nearest.to(word, known.keySet()))));
            }
        });
    }

    /** @throws IllegalArgumentException if a property {@code parley.clients.NAME.…} is not one of a client */
    static void requireKnownOfClients(Environment environment) {
        forEach(environment, (name, source) -> {
            int last = name.getNumberOfElements() - 1;
            String word = name.getElement(last, Form.UNIFORM);
            if (isOfClients(name)
                    && last > 1 // an empty map of YAML has a value itself
                    && !isOfProcess(source)
                    && (last != 3
                            || OF_CLIENT.stream()
                                    .noneMatch(known -> uniform(known).equals(word)))) {
                String client = last < 3 ? "NAME" : name.getElement(2, Form.ORIGINAL);
                throw new IllegalArgumentException(
                        problem(name, source, CLIENTS + "." + client + "." + Nearest.to(word, OF_CLIENT)));
            }
        });
    }

    private static void forEach(
            Environment environment, BiConsumer<ConfigurationPropertyName, ConfigurationPropertySource> check) {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source instanceof IterableConfigurationPropertySource named) {
                named.stream().filter(PREFIX::isAncestorOf).forEach(name -> check.accept(name, source));
            }
        }
    }

    private static String problem(
            ConfigurationPropertyName name, ConfigurationPropertySource source, @Nullable String nearest) {
        ConfigurationProperty property = source.getConfigurationProperty(name);
        Origin origin = property == null ? null : property.getOrigin();
        return name + ": unknown" + (origin == null ? "" : " in " + origin) + " (nearest: " + PREFIX + "." + nearest
                + ")";
    }

    private static boolean isOfProcess(ConfigurationPropertySource source) {
        return source.getUnderlyingSource() instanceof PropertySource<?> underlying
                && List.of(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                                StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME)
                        .contains(underlying.getName());
    }

    private static boolean isOfClients(ConfigurationPropertyName name) {
        return name.getElement(1, Form.UNIFORM).equals(CLIENTS);
    }

    /** Whether all further elements are indexes of a list. */
    private static boolean hasIndexesFrom(int first, ConfigurationPropertyName name) {
        for (int i = first; i < name.getNumberOfElements(); i++) {
            if (!name.isNumericIndex(i)) {
                return false;
            }
        }
        return true;
    }

    /** The name without its prefix and indexes, joined: a variable has the same sign for a dot and for a dash. */
    private static String word(ConfigurationPropertyName name) {
        var word = new StringBuilder();
        for (int i = 1; i < name.getNumberOfElements(); i++) {
            word.append(name.isNumericIndex(i) ? "" : name.getElement(i, Form.UNIFORM));
        }
        return word.toString();
    }

    private static String uniform(String name) {
        return name.replace("-", "");
    }
}
