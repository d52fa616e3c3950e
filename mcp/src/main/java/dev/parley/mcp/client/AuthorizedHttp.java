package dev.parley.mcp.client;

import dev.parley.outbound.http.HttpUrl;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Optional;

/** Sends requests with credentials, which it renews when the server refuses them. Safe for any thread. */
record AuthorizedHttp(URI url, HttpClient http, McpCredentials credentials) {
    /** Attempts of one request, each with other credentials. */
    private static final int MOST_RENEWALS = 3;

    /** A request for an authorization. */
    @FunctionalInterface
    interface Request {
        HttpRequest with(Optional<String> authorization);
    }

    HttpResponse<InputStream> send(Request request) throws IOException, InterruptedException {
        for (int renewals = 0; ; renewals++) {
            Optional<String> authorization = credentials.authorization();
            HttpResponse<InputStream> answer = redirected(request.with(authorization));
            int status = answer.statusCode();
            if (status != 401 && status != 403 || renewals == MOST_RENEWALS) {
                return answer;
            }
            if (!credentials.renew(status, answer.headers(), authorization)) {
                return answer;
            }
            answer.body().close();
        }
    }

    /** Follows one redirect that keeps the method, to another path of the same origin, which may have the credentials. */
    private HttpResponse<InputStream> redirected(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<InputStream> answer = http.send(request, BodyHandlers.ofInputStream());
        if (answer.statusCode() != 307 && answer.statusCode() != 308) {
            return answer;
        }
        Optional<URI> target = answer.headers().firstValue("Location").flatMap(this::ofSameOrigin);
        if (target.isEmpty()) {
            return answer;
        }
        answer.body().close();
        return http.send(
                HttpRequest.newBuilder(request, (name, value) -> true)
                        .uri(target.get())
                        .build(),
                BodyHandlers.ofInputStream());
    }

    private Optional<URI> ofSameOrigin(String location) {
        try {
            HttpUrl target = HttpUrl.of(url.resolve(location).toString());
            boolean isSame = target.origin().equals(HttpUrl.of(url.toString()).origin());
            return isSame ? Optional.of(target.uri()) : Optional.empty();
        } catch (IllegalArgumentException none) {
            return Optional.empty();
        }
    }
}
