package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

import java.util.List;

/**
 * Description of an operation over REST beside its address: documents such as OpenAPI are written from it, and commands get their flags and
 * their help.
 */
public record RestDescription(String summary, List<RestParameter> parameters) {
    public RestDescription {
        requireNonNull(summary, "summary");
        parameters = List.copyOf(parameters);
    }
}
