package dev.parley.knowledge.remote;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.outbound.http.LimitedBytes;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Requests to a SPARQL 1.1 server, with one deadline for all of them. Knows how to write terms in SPARQL. */
public final class SparqlClient {
    /** Bytes of a response; a longer one is refused while it is read. */
    private static final int MAX_RESPONSE = 16 << 20;

    private static final Pattern IRI = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*:[^\\x00-\\x20<>\"{}|^`\\\\]*");
    private static final Pattern LANGUAGE = Pattern.compile("[A-Za-z]+(-[A-Za-z0-9]+)*");

    /** A response is longer than {@link #MAX_RESPONSE}. */
    static final class TooLong extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private TooLong() {
            super("too long", null, false, false);
        }
    }

    private final RemoteServer server;
    private final long deadline;

    public SparqlClient(RemoteServer server, Duration patience) {
        this.server = server;
        this.deadline = System.nanoTime() + patience.toNanos();
    }

    /**
     * Returns the rows of a query: by variable, the lexical form or the IRI that is bound to it.
     *
     * @throws TooLong if the response is longer than a few megabytes
     */
    public List<Map<String, String>> ask(String select) {
        byte[] body = send(server.query(), "application/sparql-query", select);
        try {
            return rows(Json.read(body, Map.class));
        } catch (A2AException | ClassCastException | NullPointerException noResult) {
            throw new KnowledgeStoreException(
                    server.query() + ": no SPARQL results in JSON (expected: a SPARQL 1.1 query service)",
                    noResult,
                    false);
        }
    }

    private static List<Map<String, String>> rows(Map<?, ?> results) {
        var rows = new ArrayList<Map<String, String>>();
        var bindings = requireNonNull((Map<?, ?>) results.get("results")).get("bindings");
        for (Object binding : requireNonNull((List<?>) bindings)) {
            var row = new LinkedHashMap<String, String>();
            ((Map<?, ?>) binding)
                    .forEach((name, term) -> row.put((String) name, (String) ((Map<?, ?>) term).get("value")));
            rows.add(row);
        }
        return rows;
    }

    /** Makes an update. It may have been made although this throws. */
    public void change(String text) {
        send(server.update(), "application/sparql-update", text);
    }

    private byte[] send(URI to, String type, String text) {
        HttpRequest.Builder request = HttpRequest.newBuilder(to)
                .header("Content-Type", type + "; charset=utf-8")
                .header("Accept", "application/sparql-results+json")
                .POST(BodyPublishers.ofString(text));
        String authorization = authorization();
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        var answer = server.http().sendAsync(request.build(), head -> new LimitedBytes(MAX_RESPONSE));
        try {
            HttpResponse<byte[]> response = answer.get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            byte[] body = accepted(to, response);
            server.answered();
            return body;
        } catch (TimeoutException late) {
            throw new KnowledgeStoreException(to + ": no answer in time", late, true);
        } catch (ExecutionException failed) {
            throw failed(to, failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new KnowledgeStoreException(to + ": interrupted while waiting", interrupted, true);
        } finally {
            answer.cancel(true);
        }
    }

    private String authorization() {
        try {
            return server.authorization();
        } catch (UncheckedIOException | InvalidField unreadable) {
            throw unavailable(
                    server.query() + ": the credentials cannot be read: " + unreadable.getMessage(), unreadable);
        }
    }

    private RuntimeException failed(URI to, @Nullable Throwable cause) {
        for (Throwable at = cause; at != null; at = at.getCause()) {
            if (at instanceof LimitedBytes.TooLarge) {
                return new TooLong();
            }
        }
        Throwable reason = cause == null ? new IOException("no reason") : cause;
        return unavailable(to + ": cannot be reached: " + reason, reason);
    }

    private byte[] accepted(URI to, HttpResponse<byte[]> response) {
        int status = response.statusCode();
        if (status / 100 == 2) {
            return response.body();
        }
        String hint = switch (status) {
            case 401, 403 -> " (expected: credentials that the server accepts)";
            case 404 -> " (expected: the address of a SPARQL service)";
            default -> status / 100 == 3 ? " (expected: no redirect; name the final address)" : "";
        };
        var cause = new IOException("HTTP status " + status);
        String message = to + ": HTTP status " + status + hint;
        // What does not depend on the request may pass.
        boolean isOfRequest = status == 400 || status == 413 || status == 415 || status == 422;
        throw isOfRequest ? new KnowledgeStoreException(message, cause, false) : unavailable(message, cause);
    }

    private KnowledgeStoreException unavailable(String message, Throwable cause) {
        server.failed(message);
        return KnowledgeStoreException.unavailable(message, cause);
    }

    /** Writes a text as SPARQL's string. */
    static String quote(String text) {
        var quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> quoted.append("\\\"");
                case '\\' -> quoted.append("\\\\");
                case '\n' -> quoted.append("\\n");
                case '\r' -> quoted.append("\\r");
                default -> quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    /** Writes an id as an IRI: as it is, or, if a server would not take or keep it, as a name made from it. */
    static String iri(String id) {
        return "<" + (IRI.matcher(id).matches() ? id : "urn:parley:id:" + name(id)) + ">";
    }

    /** Writes a text so that it may be part of a URN. */
    static String name(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("*", "%2A");
    }

    static String term(Term term) {
        return switch (term) {
            case Term.Resource resource -> iri(resource.id());
            case Term.Literal literal
            when literal.language() != null ->
                quote(literal.lexical())
                        + (LANGUAGE.matcher(literal.language()).matches() ? "@" + literal.language() : "");
            case Term.Literal literal -> quote(literal.lexical()) + "^^" + iri(literal.datatype());
        };
    }
}
