package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Lists;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Something a task has produced.
 *
 * <p>Source: A2A specification 1.0, section 4.1.7 "Artifact".
 *
 * @param artifactId unique within the task
 * @param parts at least one
 */
public record Artifact(
        String artifactId,
        @Nullable String name,
        @Nullable String description,
        List<Part> parts,
        Map<String, @Nullable Object> metadata,
        List<String> extensions) {
    public Artifact {
        requireNonNull(artifactId, "artifactId");
        parts = Lists.copy(parts);
        metadata = Lists.copy(metadata);
        extensions = Lists.copy(extensions);
        if (parts.isEmpty()) {
            throw InvalidField.of("parts", "must have at least one part");
        }
    }

    /** An artifact with only an id and parts. */
    public static Artifact of(String artifactId, Part... parts) {
        return new Artifact(artifactId, null, null, List.of(parts), Map.of(), List.of());
    }

    /** An artifact with a name for people. */
    public static Artifact named(String artifactId, String name, Part... parts) {
        return new Artifact(artifactId, name, null, List.of(parts), Map.of(), List.of());
    }

    /** Returns this artifact with other parts. */
    public Artifact withParts(List<Part> others) {
        return new Artifact(artifactId, name, description, others, metadata, extensions);
    }

    /** Returns this artifact with the parts of {@code more} after its own, and its metadata and extensions merged in. */
    Artifact append(Artifact more) {
        return new Artifact(
                artifactId,
                more.name == null ? name : more.name,
                more.description == null ? description : more.description,
                Lists.append(parts, more.parts),
                TaskEvent.merge(metadata, more.metadata),
                extensions.containsAll(more.extensions) ? extensions : Lists.append(extensions, more.extensions));
    }
}
