package dev.parley.knowledge;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.spi.KnowledgeStoreException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.apache.jena.query.ResultSet;
import org.apache.jena.riot.ResultSetMgr;
import org.apache.jena.riot.resultset.ResultSetLang;
import org.apache.jena.shared.JenaException;
import org.apache.jena.sys.JenaSystem;

/** A server that speaks SPARQL 1.1, while one question is asked of it. Knows how to write terms in SPARQL. */
final class RemoteEndpoint {
    static {
        JenaSystem.init();
    }

    private static final Pattern IRI = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*:[^\\x00-\\x20<>\"{}|^`\\\\]*");
    private static final Pattern LANGUAGE = Pattern.compile("[A-Za-z]+(-[A-Za-z0-9]+)*");

    private final URI query;
    private final URI update;
    private final HttpClient http;
    private final long deadline;

    RemoteEndpoint(URI query, URI update, HttpClient http, Duration patience) {
        this.query = query;
        this.update = update;
        this.http = http;
        this.deadline = System.nanoTime() + patience.toNanos();
    }

    ResultSet ask(String select) {
        byte[] body = send(query, "application/sparql-query", select);
        try {
            return ResultSetMgr.read(new ByteArrayInputStream(body), ResultSetLang.RS_JSON);
        } catch (JenaException noResult) {
            throw failed(query + " does not answer with SPARQL results in JSON", noResult, false);
        }
    }

    void change(String text) {
        send(update, "application/sparql-update", text);
    }

    private byte[] send(URI to, String type, String text) {
        HttpRequest request = HttpRequest.newBuilder(to)
                .header("Content-Type", type + "; charset=utf-8")
                .header("Accept", "application/sparql-results+json")
                .POST(BodyPublishers.ofString(text))
                .build();
        var answer = http.sendAsync(request, BodyHandlers.ofByteArray());
        try {
            HttpResponse<byte[]> response = answer.get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (response.statusCode() / 100 != 2) {
                throw failed(
                        to + " answers with status " + response.statusCode(), new IOException(to.toString()), false);
            }
            return response.body();
        } catch (TimeoutException late) {
            throw failed(to + " takes too long", late, true);
        } catch (ExecutionException failed) {
            throw failed(to + " cannot be reached", failed, false);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw failed(to + " was not waited for", interrupted, true);
        } finally {
            answer.cancel(true);
        }
    }

    private static KnowledgeStoreException failed(String message, Throwable cause, boolean timeout) {
        return new KnowledgeStoreException(message, cause, timeout);
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
