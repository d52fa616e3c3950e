package dev.parley.registry.vault;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A client of AgentVault's API that has HTTP and JSON only. In its JSON, apostrophes stand for quotation marks. */
record Api(HttpClient http, String base) {
    Api(String base) {
        this(HttpClient.newHttpClient(), base);
    }

    /** An answer, to look into. */
    record Answer(HttpResponse<byte[]> response) {
        int status() {
            return response.statusCode();
        }

        /** The value at a path of member names and indexes; null if there is none. */
        @Nullable
        Object at(Object... path) {
            Object here = Json.read(response.body(), Object.class);
            for (Object step : path) {
                here = switch (here) {
                    case List<?> list when step instanceof Integer index && index < list.size() -> list.get(index);
                    case Map<?, ?> map -> map.get(step);
                    case null, default -> null;
                };
            }
            return here;
        }

        String text(Object... path) {
            return Objects.toString(at(path));
        }

        String body() {
            return new String(response.body(), UTF_8);
        }

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        Answer is(int status) {
            assertThat(status()).as(body()).isEqualTo(status);
            return this;
        }

        Answer is(int status, String detail) {
            assertThat(List.of(is(status).text("detail"))).containsExactly(detail);
            return this;
        }
    }

    Answer get(String path, String... headers) throws Exception {
        return send("GET", path, null, headers);
    }

    Answer send(String method, String path, @Nullable String body, String... headers) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(base + path))
                .method(
                        method,
                        body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body.replace('\'', '"')));
        if (body != null && !List.of(headers).contains("Content-Type")) {
            request.header("Content-Type", "application/json");
        }
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return new Answer(http.send(request.build(), BodyHandlers.ofByteArray()));
    }

    Answer register(String name, String password) throws Exception {
        return send(
                "POST",
                "/auth/register",
                "{'name':'%s','email':'%s@example.com','password':'%s'}".formatted(name, name, password));
    }

    Answer login(String email, String password) throws Exception {
        return send(
                "POST",
                "/auth/login",
                "username=" + URLEncoder.encode(email, UTF_8) + "&password=" + URLEncoder.encode(password, UTF_8),
                "Content-Type",
                "application/x-www-form-urlencoded");
    }

    /** Registers a developer and logs in: the header with the token. */
    String[] developer(String name) throws Exception {
        register(name, "secret-" + name).is(201);
        return bearer(login(name + "@example.com", "secret-" + name).is(200).text("access_token"));
    }

    static String[] bearer(String token) {
        return new String[] {"Authorization", "Bearer " + token};
    }

    /** Registers a card, and returns its id. */
    String card(String[] developer, String humanId, String name, String more) throws Exception {
        return send("POST", "/api/v1/agent-cards/", "{'card_data':" + cardData(humanId, name, more) + "}", developer)
                .is(201)
                .text("id");
    }

    /** @param more members after the others, beginning with a comma */
    static String cardData(String humanId, String name, String more) {
        return ("{'schemaVersion':'1.0','humanReadableId':'%s','agentVersion':'1.0.0','name':'%s','description':'Does %s',"
                        + "'url':'https://agents.example.com/a2a','provider':{'name':'Example'},"
                        + "'authSchemes':[{'scheme':'none'}]%s}")
                .formatted(
                        humanId,
                        name,
                        name,
                        more.contains("'capabilities'") ? more : ",'capabilities':{'a2aVersion':'0.2'}" + more);
    }
}
