package dev.parley.cli.task;

import static java.util.stream.Collectors.joining;

import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.WireLog;
import dev.parley.command.CommandOutput.Fields;
import dev.parley.dialect.Json;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Role;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Text form of the protocol's types. The labels are part of the contract with scripts: never rename one. */
public final class TextView {
    private final boolean verbose;

    /** @param verbose adds times, ids of messages, metadata and history */
    TextView(boolean verbose) {
        this.verbose = verbose;
    }

    /** The view that the settings of a call want. */
    public static TextView of(Invocation call) {
        return new TextView(call.reports().verbose());
    }

    /** The name on the wire, such as {@code TASK_STATE_WORKING}. */
    public static String name(TaskState state) {
        return "TASK_STATE_" + state.name();
    }

    public void task(Fields page, Task task) {
        task(page, task, true);
    }

    /** @param answers whether messages of the history that answer the caller are shown */
    void task(Fields page, Task task, boolean answers) {
        ids(page, task.id(), task.contextId(), task.status());
        if (verbose) {
            metadata(page, task.metadata());
        }
        statusMessage(page, task.status());
        if (answers) {
            answers(task).forEach(message -> parts(page, message.parts()));
        }
        task.artifacts().forEach(artifact -> artifact(page, artifact));
    }

    /**
     * The messages by which an agent has answered that neither moves its tasks with a message nor makes artifacts: those after the
     * last message of the caller. Agents of AgentVault do so.
     */
    static List<Message> answers(Task task) {
        if (task.status().message() != null || !task.artifacts().isEmpty()) {
            return List.of();
        }
        int last = task.history().size();
        while (last > 0 && task.history().get(last - 1).role() == Role.AGENT) {
            last--;
        }
        return task.history().subList(last, task.history().size());
    }

    /** The messages of the task, oldest first. */
    public void history(Fields page, Task task) {
        for (Message message : task.history()) {
            page.field("History", message.role().name().toLowerCase(Locale.ROOT))
                    .field("Message-ID", verbose ? message.messageId() : null);
            parts(page, message.parts());
        }
    }

    public void event(Fields page, TaskEvent event) {
        switch (event) {
            case Task task -> task(page, task);
            case Message message -> message(page, message);
            case TaskStatusUpdateEvent moved -> {
                ids(page, moved.taskId(), moved.contextId(), moved.status());
                page.field("Progress", moved.metadata().get("progress"));
                if (verbose) {
                    metadata(page, moved.metadata());
                }
                statusMessage(page, moved.status());
            }
            case TaskArtifactUpdateEvent produced -> {
                page.field("Task-ID", produced.taskId());
                page.field("Append", produced.append() ? "true" : null);
                artifact(page, produced.artifact());
            }
        }
    }

    public void message(Fields page, Message message) {
        page.field("Message-ID", message.messageId())
                .field("Task-ID", message.taskId())
                .field("Context-ID", message.contextId());
        if (verbose) {
            metadata(page, message.metadata());
        }
        parts(page, message.parts());
    }

    void pushConfig(Fields page, PushConfig config) {
        page.field("Config-ID", config.id()).field("URL", config.url());
        if (config.token() != null) {
            page.field("Token", WireLog.REDACTED);
        }
        if (config.authentication() != null) {
            page.field("Auth-Scheme", config.authentication().scheme());
        }
    }

    /** The lines that every text about a task has. */
    static Fields identity(Fields page, Task task) {
        return identity(page, task.id(), task.contextId(), task.state());
    }

    static Fields identity(Fields page, String taskId, String contextId, TaskState state) {
        return page.field("Task-ID", taskId)
                .field("Context-ID", contextId.isEmpty() ? null : contextId)
                .field("State", name(state));
    }

    static Fields identity(Fields page, Artifact artifact) {
        return page.field("Artifact-ID", artifact.artifactId()).field("Artifact-Name", artifact.name());
    }

    private void ids(Fields page, String taskId, String contextId, TaskStatus status) {
        identity(page, taskId, contextId, status.state()).field("Timestamp", verbose ? status.timestamp() : null);
    }

    private void statusMessage(Fields page, TaskStatus status) {
        Message message = status.message();
        if (message == null) {
            return;
        }
        page.field("Message-ID", verbose ? message.messageId() : null);
        if (!message.text().isEmpty()) {
            page.block("Status-Message", message.text());
        }
        parts(
                page,
                message.parts().stream()
                        .filter(part -> !(part instanceof Part.Text))
                        .toList());
    }

    private void artifact(Fields page, Artifact artifact) {
        identity(page, artifact).field("Artifact-Description", verbose ? artifact.description() : null);
        if (verbose) {
            metadata(page, artifact.metadata());
        }
        parts(page, artifact.parts());
    }

    private void parts(Fields page, List<Part> parts) {
        for (Part part : parts) {
            if (part instanceof Part.Raw || part instanceof Part.Url || part.filename() != null) {
                page.field("File", part.filename() == null ? "(unnamed)" : part.filename())
                        .field("File-Type", part.mediaType());
            } else if (verbose) {
                page.field("Part-Type", part.mediaType());
            }
            if (verbose) {
                metadata(page, part.metadata());
            }
            switch (part) {
                case Part.Text text -> page.block("Text", text.text());
                case Part.Raw raw -> page.field("File-Size", raw.raw().length);
                case Part.Url url -> page.field("File-URL", url.url());
                case Part.Data data -> page.layout("Data", data.data());
            }
        }
    }

    private void metadata(Fields page, Map<String, @Nullable Object> metadata) {
        if (!metadata.isEmpty()) {
            page.layout("Metadata", metadata);
        }
    }

    /** @param signatures the result of their verification */
    public void card(Fields page, AgentCard card, String signatures) {
        page.field("Name", card.name())
                .field("Description", card.description())
                .field("Version", card.version())
                .field("Documentation", card.documentationUrl());
        if (card.provider() != null) {
            page.field(
                    "Provider",
                    card.provider().organization() + " (" + card.provider().url() + ")");
        }
        AgentCard.Capabilities can = card.capabilities();
        page.field("Streaming", yes(can.streaming()))
                .field("Push-Notifications", yes(can.pushNotifications()))
                .field("Extended-Card", yes(can.extendedAgentCard()));
        can.extensions().forEach(one -> page.field("Extension", one.uri() + (one.required() ? " (required)" : "")));
        for (AgentCard.Interface at : card.supportedInterfaces()) {
            String tenant = at.tenant() == null ? "" : " (tenant " + at.tenant() + ")";
            page.field("Interface", at.protocolBinding() + " " + at.protocolVersion() + " " + at.url() + tenant);
        }
        card.securitySchemes().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(scheme -> page.field("Security-Scheme", scheme.getKey() + ": " + kind(scheme.getValue())));
        card.securityRequirements()
                .forEach(one -> page.field(
                        "Security-Requirement",
                        one.schemes().isEmpty()
                                ? "none"
                                : one.schemes().keySet().stream().sorted().collect(joining(" and "))));
        page.field("Input-Modes", joined(card.defaultInputModes()))
                .field("Output-Modes", joined(card.defaultOutputModes()))
                .field("Signatures", signatures);
        for (AgentCard.Skill skill : card.skills()) {
            page.field("Skill", skill.id() + ": " + skill.name() + " - " + skill.description());
            if (verbose) {
                page.field("Skill-Tags", joined(skill.tags()));
                skill.examples().forEach(example -> page.field("Skill-Example", example));
            }
        }
        if (verbose) {
            page.layout("Card", Json.read(Json.write(card), Map.class));
        }
    }

    private static String yes(@Nullable Boolean capability) {
        return Boolean.TRUE.equals(capability) ? "yes" : "no";
    }

    private static @Nullable String joined(List<String> values) {
        return values.isEmpty() ? null : String.join(", ", values);
    }

    private static String kind(SecurityScheme scheme) {
        return switch (scheme) {
            case SecurityScheme.ApiKey key -> "API key in " + key.location() + " " + key.name();
            case SecurityScheme.HttpAuth http -> "HTTP " + http.scheme();
            case SecurityScheme.OAuth2 oauth -> "OAuth 2.0";
            case SecurityScheme.OpenIdConnect oidc -> "OpenID Connect " + oidc.openIdConnectUrl();
            case SecurityScheme.MutualTls tls -> "mutual TLS";
        };
    }
}
