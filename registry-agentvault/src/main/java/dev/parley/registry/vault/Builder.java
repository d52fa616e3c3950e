package dev.parley.registry.vault;

import static dev.parley.registry.vault.ValueRules.list;
import static dev.parley.registry.vault.ValueRules.matching;
import static dev.parley.registry.vault.ValueRules.object;
import static dev.parley.registry.vault.ValueRules.oneOf;
import static dev.parley.registry.vault.ValueRules.optional;
import static dev.parley.registry.vault.ValueRules.required;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.registry.vault.ValueRules.Rule;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Generates projects of agents as archives: in Python with the library of AgentVault, in front of a language model or an agent of Google's
 * kit, and in Java. Texts of the caller are inserted as literals, whose form is that of JSON in all of these languages.
 */
final class Builder {
    private static final String HOST = "http://localhost:8001";
    private static final String TYPE = "agent_builder_type";
    private static final String WRAPPER = "simple_wrapper";
    private static final String ADK = "adk_agent";
    private static final String JAVA = "java_agent";
    private static final String BACKEND = "wrapper_llm_backend_type";
    private static final Rule LONG = ValueRules.text(0, 20_000);

    private static final Rule CONFIG = object(
            (value, faults) -> {
                Map<String, @Nullable Object> config = ValueRules.members(value);
                String type = requireNonNull(ValueRules.text(config, TYPE));
                List<String> needed = type.equals(ADK)
                        ? List.of("adk_model_name", "adk_instruction")
                        : List.of(BACKEND, "wrapper_model_name");
                for (String name : needed) {
                    if (isBlank(config, name)) {
                        faults.add(
                                "value_error",
                                "Value error, '" + name + "' is required when agent_builder_type is '" + type + "'",
                                value);
                        return;
                    }
                }
                if ("apiKey".equals(config.get("wrapper_auth_type")) && isBlank(config, "wrapper_service_id")) {
                    faults.add(
                            "value_error",
                            "Value error, 'wrapper_service_id' is required when wrapper_auth_type is 'apiKey'",
                            value);
                }
            },
            required("agent_name", ValueRules.text(3, 100)),
            required("agent_description", ValueRules.text(0, 500)),
            optional(
                    "human_readable_id",
                    matching(Pattern.compile("[a-z0-9]+(?:[-_][a-z0-9]+)*\\/[a-z0-9]+(?:[-_][a-z0-9]+)*"))),
            required(TYPE, oneOf(WRAPPER, ADK, JAVA)),
            optional(BACKEND, oneOf("openai_api", "anthropic_api", "local_openai_compatible")),
            optional("wrapper_model_name", ValueRules.text(0, 200)),
            optional("wrapper_system_prompt", LONG),
            optional("adk_model_name", ValueRules.text(0, 200)),
            optional("adk_instruction", LONG),
            optional("adk_tools", list(0, oneOf("get_current_time", "google_search"))),
            optional("wrapper_auth_type", oneOf("none", "apiKey")),
            optional("wrapper_service_id", ValueRules.text(0, 200)));

    private final Map<String, @Nullable Object> config;
    private final String developer;
    private final String type;
    private final String packageName;

    private Builder(Map<String, @Nullable Object> config, String developer) {
        this.config = config;
        this.developer = developer;
        this.type = text(TYPE);
        this.packageName = packageName(text("agent_name"));
    }

    /** @param developer name of the account */
    static WireAnswer.Whole answer(byte[] body, String developer) {
        var builder = new Builder(ValueRules.body(body, CONFIG), developer);
        return new WireAnswer.Whole(
                200,
                Map.of(
                        "Content-Type",
                        "application/zip",
                        "Content-Disposition",
                        "attachment; filename=\"" + builder.packageName + ".zip\""),
                builder.archive());
    }

    private static boolean isBlank(Map<String, @Nullable Object> config, String name) {
        String text = ValueRules.text(config, name);
        return text == null || text.isEmpty();
    }

    private String text(String name) {
        return requireNonNullElse(ValueRules.text(config, name), "");
    }

    private static String packageName(String name) {
        String plain = name.toLowerCase(Locale.ROOT)
                .replaceAll("[^a-z0-9]", "_")
                .replace("agent", "")
                .replaceAll("^_+|_+$", "");
        return (plain.matches("\\d.*") ? "a" + plain : plain) + "_agent";
    }

    private static String part(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "-");
    }

    private String humanId() {
        String given = ValueRules.text(config, "human_readable_id");
        if (given != null) {
            return given;
        }
        String name = part(text("agent_name")).replace("agent", "").replaceAll("^-+|-+$", "");
        return part(developer) + "/" + (name.isEmpty() ? "agent" : name);
    }

    private byte[] archive() {
        String source = "src/" + packageName + "/";
        var files = new LinkedHashMap<String, String>();
        files.put(".gitignore", "");
        files.put(".env.example", template("env.example"));
        files.put("agent-card.json", new String(Json.write(card()), UTF_8));
        files.put("INSTRUCTIONS.md", instructions());
        if (type.equals(JAVA)) {
            files.put(source + "Main.java", filled("Main.java"));
        } else {
            files.put("Dockerfile", filled("Dockerfile"));
            boolean isAdk = type.equals(ADK);
            files.put("requirements.txt", template(isAdk ? "requirements-adk.txt" : "requirements.txt"));
            files.put(source + "agent.py", isAdk ? filled("adk.py") : filled("wrapper.py") + template("agent.py"));
            files.put(source + "main.py", filled(isAdk ? "adk-main.py" : "main.py"));
            if (isAdk) {
                files.put(source + "tools.py", filled("tools.py"));
            }
        }
        files.put("tests/", "");
        var bytes = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(bytes)) {
            for (Map.Entry<String, String> file : files.entrySet()) {
                var entry = new ZipEntry(file.getKey());
                entry.setTime(0);
                zip.putNextEntry(entry);
                zip.write(file.getValue().getBytes(UTF_8));
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    private String instructions() {
        String title = text("agent_name").replaceAll("[^\\p{L}\\p{N} _.-]", " ");
        return template("INSTRUCTIONS.md")
                .replace(
                        "@run@",
                        template(type.equals(JAVA) ? "run-java" : "run-python").strip())
                .replace("@package@", packageName)
                .replace("@path@", url())
                .replace("@card@", type.equals(JAVA) ? url() + "/agent-card.json" : HOST + "/agent-card.json")
                .replace("@title@", title);
    }

    private String filled(String template) {
        boolean isAdk = type.equals(ADK);
        var values = new LinkedHashMap<String, String>();
        values.put("@package@", packageName);
        values.put("@tools@", tools().collect(Collectors.joining(", ")));
        values.put("@adkname@", literal(packageName + "_core"));
        values.put("@agent@", literal(packageName.replace('_', '-')));
        values.put("@name@", literal(text("agent_name")));
        values.put("@description@", literal(text("agent_description")));
        values.put("@backend@", literal(text(BACKEND)));
        values.put("@model@", literal(text(isAdk ? "adk_model_name" : "wrapper_model_name")));
        values.put("@prompt@", literal(text(isAdk ? "adk_instruction" : "wrapper_system_prompt")));
        values.put("@auth@", literal(isKeyed() ? "apiKey" : "none"));
        // In one pass: a text of the caller may look like one of these names.
        return Pattern.compile("@[a-z]+@")
                .matcher(template(template))
                .replaceAll(name -> Matcher.quoteReplacement(values.getOrDefault(name.group(), name.group())));
    }

    private Stream<String> tools() {
        return config.get("adk_tools") instanceof List<?> list
                ? list.stream().map(String::valueOf).distinct()
                : Stream.empty();
    }

    private boolean isKeyed() {
        return text("wrapper_auth_type").equals("apiKey");
    }

    private static String literal(String text) {
        return new String(Json.write(text), UTF_8);
    }

    private Map<String, Object> card() {
        boolean isAdk = type.equals(ADK);
        String backend = isAdk ? text("adk_model_name") : text(BACKEND);
        var skills = new ArrayList<Map<String, Object>>();
        if (isAdk) {
            skills.add(skill("core_logic", "Core ADK Logic", text("adk_instruction")));
            tools().forEach(tool -> skills.add(
                    tool.equals("get_current_time")
                            ? skill("get_time", "Get Current Time", "Returns the current date and time in UTC.")
                            : skill(tool, "Google Search", "Searches the web.")));
        } else {
            skills.add(skill("chat", "Chat", "Answers a text by a language model (" + backend + ")."));
        }
        var card = new LinkedHashMap<String, Object>();
        card.put("schemaVersion", "1.0");
        card.put("humanReadableId", humanId());
        card.put("agentVersion", "0.1.0");
        card.put("name", text("agent_name") + (isAdk ? " (ADK)" : ""));
        card.put("description", text("agent_description"));
        card.put("url", url());
        card.put("provider", Map.of("name", developer));
        card.put("capabilities", Map.of("a2aVersion", "0.2", "supportedMessageParts", List.of("text")));
        card.put(
                "authSchemes",
                List.of(
                        isKeyed()
                                ? Map.of("scheme", "apiKey", "service_identifier", text("wrapper_service_id"))
                                : Map.of("scheme", "none")));
        card.put("skills", skills);
        card.put("tags", List.of("agentvault", "generated", isAdk ? "adk" : "wrapper", backend));
        return card;
    }

    /** The address of the agent in the profile of AgentVault. */
    private String url() {
        return HOST + (type.equals(JAVA) ? "/agents/" + packageName.replace('_', '-') + "/agentvault" : "/a2a");
    }

    private static Map<String, Object> skill(String id, String name, String description) {
        return Map.of("id", id, "name", name, "description", description);
    }

    private static String template(String name) {
        try (InputStream in = Builder.class.getResourceAsStream("builder/" + name + ".txt")) {
            return new String(requireNonNull(in, name).readAllBytes(), UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
