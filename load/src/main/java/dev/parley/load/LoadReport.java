package dev.parley.load;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The outcome of a run, with everything that is needed to repeat it. */
sealed interface LoadReport permits LoadResult, LoadHold.Result {
    LoadTarget target();

    LoadPlan plan();

    /** Measured values by name: numbers, texts, and maps of these. */
    Map<String, @Nullable Object> values();

    /** True if nothing succeeded, so that there is nothing to compare. */
    boolean isUseless();

    /** The whole report as one JSON object. */
    default Map<String, @Nullable Object> document() {
        var document = new LinkedHashMap<String, @Nullable Object>();
        document.put("operation", plan().kind().toString());
        document.put("url", target().agent().url());
        document.put("transport", target().agent().protocolBinding());
        document.put("parameters", parameters(plan()));
        document.put("environment", environment());
        document.put("result", values());
        return document;
    }

    /** The report for people: one {@code Label: value} per line. */
    default String text() {
        var text = new StringBuilder();
        line(text, "Operation", plan().kind() + " over " + target().agent().protocolBinding());
        line(text, "URL", target().agent().url());
        line(text, "Connections", plan().connections());
        values().forEach((name, value) -> line(text, label(name), value instanceof Map<?, ?> map ? flat(map) : value));
        return text.toString();
    }

    private static Map<String, @Nullable Object> parameters(LoadPlan plan) {
        var parameters = new LinkedHashMap<String, @Nullable Object>();
        parameters.put("connections", plan.connections());
        parameters.put("seconds", plan.duration().toSeconds());
        parameters.put("warmupSeconds", plan.warmup().toSeconds());
        parameters.put("timeoutSeconds", plan.timeout().toSeconds());
        parameters.put("requests", plan.requests());
        parameters.put("textCharacters", plan.text().length());
        parameters.put("text", plan.text().length() > 100 ? plan.text().substring(0, 100) + "…" : plan.text());
        if (plan.kind() == LoadKind.GET) {
            parameters.put("tasks", plan.tasks());
        }
        if (plan.kind() == LoadKind.LIST) {
            parameters.put("pageSize", plan.pageSize());
        }
        return parameters;
    }

    private static Map<String, @Nullable Object> environment() {
        var environment = new LinkedHashMap<String, @Nullable Object>();
        environment.put("jdk", System.getProperty("java.vm.vendor") + " " + Runtime.version());
        environment.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        environment.put("processor", processor());
        environment.put("coresForClient", Runtime.getRuntime().availableProcessors());
        environment.put(
                "loadAverage",
                round(ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()));
        return environment;
    }

    private static @Nullable String processor() {
        try {
            return Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                    .filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(null);
        } catch (IOException notLinux) {
            return System.getProperty("os.arch");
        }
    }

    /** Three decimals: more would claim a precision that no run has. */
    static double round(double value) {
        return Math.round(value * 1e3) / 1e3;
    }

    /** {@code eventsPerSecond} becomes {@code Events-Per-Second}. */
    private static String label(String name) {
        String spaced = name.replaceAll("([A-Z])", "-$1");
        return Character.toUpperCase(spaced.charAt(0)) + spaced.substring(1);
    }

    private static String flat(Map<?, ?> map) {
        if (map.isEmpty()) {
            return "none";
        }
        var text = new StringBuilder();
        map.forEach((name, value) -> {
            text.append(text.isEmpty() ? "" : ", ").append(name).append(' ').append(value);
        });
        return text.toString();
    }

    private static void line(StringBuilder text, String label, @Nullable Object value) {
        text.append(label).append(": ").append(value).append('\n');
    }
}
