package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Lists;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The task produced a whole artifact, or ({@code append}) more of one already begun.
 *
 * <p>Source: A2A specification 1.0, section 4.2.2.
 *
 * @param append the parts go after those of the artifact with the same id; otherwise they replace it
 * @param lastChunk nothing more comes for this artifact
 */
public record TaskArtifactUpdateEvent(
        String taskId,
        String contextId,
        Artifact artifact,
        boolean append,
        boolean lastChunk,
        Map<String, @Nullable Object> metadata)
        implements TaskEvent {
    public TaskArtifactUpdateEvent {
        requireNonNull(taskId, "taskId");
        requireNonNull(contextId, "contextId");
        requireNonNull(artifact, "artifact");
        metadata = Lists.copy(metadata);
    }
}
