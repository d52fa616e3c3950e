package dev.parley.extension;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** A static page of a hub. */
public record HubPage(String contentType, byte[] body) {
    /** A resource beside a class. */
    public static HubPage of(Class<?> owner, String contentType, String resource) {
        try (InputStream in = owner.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + resource);
            }
            return new HubPage(contentType, in.readAllBytes());
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
