package dev.parley.server;

import dev.parley.dialect.spi.ContainerCaller;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.cert.X509Certificate;
import org.jspecify.annotations.Nullable;

/** A request of a container, such as a servlet container, and its answer. Belongs to one thread, which may block. */
public interface HttpExchange {
    String method();

    /** The path below the public URL, with its escapes: empty, or beginning with a slash. */
    String rawPath();

    /** The query with its escapes; null if there is none. */
    @Nullable
    String rawQuery();

    /** The values of a header field, separated by commas; null if there is none. */
    @Nullable
    String header(String name);

    /** The address of the client. */
    String clientAddress();

    /** The certificate of the client, which the container has verified; null for none. */
    default @Nullable X509Certificate certificate() {
        return null;
    }

    /** The caller that the container has authenticated; null for none. */
    default @Nullable ContainerCaller caller() {
        return null;
    }

    /** The body of the request; reads end within the time limits of the container. */
    InputStream body() throws IOException;

    /** Sets the status of the answer, before its body. */
    void status(int status);

    /** Sets a header field of the answer, before its body. */
    void set(String name, String value);

    /** The body of the answer; a flush sends what has been written. Writes fail once the client has gone. */
    OutputStream output() throws IOException;
}
