package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.dialect.WireAnswer;
import dev.parley.dialect.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Request of an operator: a path in steps, parameters, and members of a JSON object. */
final class AdminRequest {
    private final WireRequest request;
    private final List<String> steps;
    private final Map<?, ?> members;

    /** @throws A2AException if its body is no JSON object */
    AdminRequest(WireRequest request) {
        this.request = request;
        this.steps = List.of(request.path().replaceFirst("^/", "").split("/", -1)).stream()
                .map(step -> step.replace("%2F", "/").replace("%2f", "/"))
                .toList();
        this.members = request.body().length == 0 ? Map.of() : Json.read(request.body(), Map.class);
    }

    int steps() {
        return steps.size();
    }

    String step(int number) {
        return steps.get(number);
    }

    /** True if a step is {@code one}, false if it is {@code other}. */
    boolean oneOf(int number, String one, String other) {
        if (!step(number).equals(one) && !step(number).equals(other)) {
            throw nothingHere();
        }
        return step(number).equals(one);
    }

    A2AException nothingHere() {
        return A2AException.of(A2AError.METHOD_NOT_FOUND, "No such path");
    }

    void requireGet() {
        if (!request.method().equals("GET")) {
            throw A2AException.notAllowed(request.method(), "GET, HEAD");
        }
    }

    boolean isPost() {
        if (request.method().equals("POST")) {
            requirePost();
            return true;
        }
        if (!request.method().equals("GET")) {
            throw A2AException.notAllowed(request.method(), "GET, HEAD, POST");
        }
        return false;
    }

    /**
     * Refuses what a page of another site has a browser send. Such a page cannot read the answer, but the request would leave a
     * row in the audit as if an operator had asked.
     */
    void requireOwnSite() {
        String site = request.header("Sec-Fetch-Site");
        if (site != null && !site.equals("same-origin") && !site.equals("none")) {
            throw A2AException.of(
                    A2AError.PERMISSION_DENIED,
                    "Pages of other sites may not call (expected: Sec-Fetch-Site: same-origin)");
        }
    }

    /** A web page can send other types to any address without being allowed to; JSON it cannot. */
    void requirePost() {
        if (!request.method().equals("POST")) {
            throw A2AException.notAllowed(request.method(), "POST");
        }
        String type = request.header("Content-Type");
        if (type == null || !type.startsWith("application/json")) {
            throw A2AException.of(
                    A2AError.CONTENT_TYPE_NOT_SUPPORTED, "Content-Type: " + type + " (expected: application/json)");
        }
    }

    @Nullable
    String parameter(String name) {
        List<String> given = request.query().get(name);
        return given == null || given.isEmpty() ? null : given.getFirst();
    }

    long number(String name, long otherwise, long most) {
        String given = parameter(name);
        try {
            long number = given == null ? otherwise : Long.parseLong(given);
            if (number >= 0 && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // falls through: it is none
        }
        throw A2AException.invalidParams(name, given + " (expected: 0 to " + most + ")");
    }

    @Nullable
    Instant timeParameter(String name) {
        return time(name, parameter(name));
    }

    /** The whole of a body that is given on as it came. */
    String body() {
        return new String(request.body(), UTF_8);
    }

    String text(String member) {
        if (members.get(member) instanceof String text) {
            return text;
        }
        throw A2AException.invalidParams(member, "missing (expected: a text)");
    }

    List<String> texts(String member) {
        Object value = members.get(member);
        if (value == null) {
            return List.of();
        }
        if (value instanceof List<?> list && list.stream().allMatch(String.class::isInstance)) {
            return list.stream().map(String.class::cast).toList();
        }
        throw A2AException.invalidParams(member, "wrong type (expected: a list of texts)");
    }

    @Nullable
    Instant time(String member) {
        return time(member, members.get(member));
    }

    private static @Nullable Instant time(String name, @Nullable Object value) {
        try {
            return value == null ? null : Instant.parse(String.valueOf(value));
        } catch (DateTimeParseException wrong) {
            throw A2AException.invalidParams(name, value + " (expected: such as 2027-01-31T00:00:00Z)");
        }
    }

    Duration seconds(String member, Duration otherwise, Duration most) {
        Object value = members.get(member);
        if (value == null) {
            return otherwise;
        }
        if (value instanceof Number number && number.longValue() >= 0 && number.longValue() <= most.toSeconds()) {
            return Duration.ofSeconds(number.longValue());
        }
        throw A2AException.invalidParams(member, value + " (expected: 0 to " + most.toSeconds() + ")");
    }

    static WireAnswer.Whole json(Map<String, ?> members) {
        return new WireAnswer.Whole(
                200, Map.of("Content-Type", "application/json", "Cache-Control", "no-store"), Json.write(members));
    }
}
