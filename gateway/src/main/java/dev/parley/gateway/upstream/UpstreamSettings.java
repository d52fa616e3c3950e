package dev.parley.gateway.upstream;

import java.net.URI;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the calls of a route to its replicas.
 *
 * @param replicas at least one
 * @param timeouts of calls and streams
 * @param concurrency calls and open streams of one replica at the same time, at most
 * @param retries of a call, at most
 * @param resumes attempts in a row to resume a stream that bring no event, at most
 * @param failures in a row that open the breaker of a replica
 * @param pause of an open breaker until its probe; doubles with each failed probe, up to a minute
 * @param probe interval of the health probes
 * @param deduplicates whether the agent leads a repeated message to the task of the first one, so that a lost message may be repeated
 */
public record UpstreamSettings(
        List<Address> replicas,
        Timeouts timeouts,
        int concurrency,
        int retries,
        int resumes,
        int failures,
        Duration pause,
        Duration probe,
        boolean deduplicates) {
    private static final int MOST_REPLICAS = 32;
    private static final int MOST_WEIGHT = 100;
    private static final Duration LONGEST = Duration.ofDays(1);

    /**
     * A replica of the agent.
     *
     * @param url address of the agent
     * @param weight share of the tasks beside those of the other replicas, 1 to 100
     * @param draining whether it begins no tasks and contexts any more
     */
    public record Address(String url, int weight, boolean draining) {
        public Address {
            if (weight < 1 || weight > MOST_WEIGHT) {
                throw new IllegalArgumentException("weight " + weight + " (expected: 1 to " + MOST_WEIGHT + ")");
            }
            String scheme = URI.create(url).getScheme();
            if (!"http".equals(scheme) && !"https".equals(scheme)
                    || URI.create(url).getRawUserInfo() != null) {
                throw new IllegalArgumentException(
                        "url \"" + url + "\": (expected: http or https, without a password)");
            }
        }

        /** A replica: an address, or a weight, an asterisk and an address ({@code 3*https://a.example/agent}). */
        public static Address of(String text) {
            int weight = text.indexOf('*');
            boolean hasWeight = weight > 0 && text.substring(0, weight).matches("\\d{1,3}");
            return hasWeight
                    ? new Address(text.substring(weight + 1), Integer.parseInt(text.substring(0, weight)), false)
                    : new Address(text, 1, false);
        }
    }

    /**
     * Time limits.
     *
     * @param connect until there is a connection
     * @param firstByte until the answer of a call that does not wait for a task, or the head of a stream
     * @param idle without any byte of a stream, keep-alives included, after which it is resumed
     * @param total of a call with its retries, and of a stream
     */
    public record Timeouts(Duration connect, Duration firstByte, Duration idle, Duration total) {
        /** 5 s, 30 s, 5 min and 1 h. */
        public static final Timeouts DEFAULTS =
                new Timeouts(Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofMinutes(5), Duration.ofHours(1));

        public Timeouts {
            requireDuration("connect-timeout", connect);
            requireDuration("first-byte-timeout", firstByte);
            requireDuration("idle-timeout", idle);
            requireDuration("total-timeout", total);
        }
    }

    public UpstreamSettings {
        replicas = List.copyOf(replicas);
        var ids = new HashSet<String>();
        replicas.forEach(one -> {
            if (!ids.add(Replica.id(one.url()))) {
                throw new IllegalArgumentException("url \"" + one.url() + "\": duplicate");
            }
        });
        requireRange("url", replicas.size(), 1, MOST_REPLICAS);
        requireRange("concurrency", concurrency, 1, 1_000_000);
        requireRange("retries", retries, 0, 10);
        requireRange("resumes", resumes, 0, 100);
        requireRange("failures", failures, 1, 1_000);
        requireDuration("pause", pause);
        requireDuration("probe", probe);
    }

    /** Names of the settings in JSON. */
    public static final Set<String> NAMES =
            Set.copyOf(of("http://localhost").json().keySet());

    /** Settings of one replica or several ones of the same weight, with the defaults. */
    public static UpstreamSettings of(String... urls) {
        return read(Map.of("replicas", List.of(urls)));
    }

    /**
     * Reads what {@link #json} returns; absent members have their defaults.
     *
     * @throws IllegalArgumentException if a value is not valid
     */
    public static UpstreamSettings read(Map<?, ?> json) {
        var replicas = new ArrayList<Address>();
        if (json.get("replicas") instanceof List<?> all) {
            for (Object one : all) {
                replicas.add(
                        one instanceof Map<?, ?> member
                                ? new Address(
                                        String.valueOf(member.get("url")),
                                        number(member, "weight", 1),
                                        Boolean.TRUE.equals(member.get("draining")))
                                : Address.of(String.valueOf(one)));
            }
        }
        return new UpstreamSettings(
                replicas,
                new Timeouts(
                        duration(json, "connect-timeout", Timeouts.DEFAULTS.connect()),
                        duration(json, "first-byte-timeout", Timeouts.DEFAULTS.firstByte()),
                        duration(json, "idle-timeout", Timeouts.DEFAULTS.idle()),
                        duration(json, "total-timeout", Timeouts.DEFAULTS.total())),
                number(json, "concurrency", 1_024),
                number(json, "retries", 2),
                number(json, "resumes", 10),
                number(json, "failures", 5),
                duration(json, "pause", Duration.ofSeconds(5)),
                duration(json, "probe", Duration.ofSeconds(10)),
                Boolean.TRUE.equals(json.get("deduplicates")));
    }

    /** These settings as members of JSON, under the names of the settings of a route. */
    public Map<String, Object> json() {
        var json = new LinkedHashMap<String, Object>();
        json.put(
                "replicas",
                replicas.stream()
                        .map(one -> Map.of("url", one.url(), "weight", one.weight(), "draining", one.draining()))
                        .toList());
        json.put("connect-timeout", timeouts.connect().toString());
        json.put("first-byte-timeout", timeouts.firstByte().toString());
        json.put("idle-timeout", timeouts.idle().toString());
        json.put("total-timeout", timeouts.total().toString());
        json.put("concurrency", concurrency);
        json.put("retries", retries);
        json.put("resumes", resumes);
        json.put("failures", failures);
        json.put("pause", pause.toString());
        json.put("probe", probe.toString());
        json.put("deduplicates", deduplicates);
        return json;
    }

    /**
     * These settings with a replica that begins no tasks any more, or begins them again.
     *
     * @throws IllegalArgumentException if there is no replica at the address
     */
    public UpstreamSettings draining(String url, boolean draining) {
        if (replicas.stream().noneMatch(one -> one.url().equals(url))) {
            throw new IllegalArgumentException("url \"" + url + "\": no replica of the route");
        }
        List<Address> changed = replicas.stream()
                .map(one -> one.url().equals(url) ? new Address(url, one.weight(), draining) : one)
                .toList();
        return new UpstreamSettings(
                changed, timeouts, concurrency, retries, resumes, failures, pause, probe, deduplicates);
    }

    private static int number(Map<?, ?> json, String name, int absent) {
        return json.get(name) instanceof Number number ? number.intValue() : absent;
    }

    private static Duration duration(Map<?, ?> json, String name, Duration absent) {
        Object value = json.get(name);
        if (value == null) {
            return absent;
        }
        try {
            String text = value.toString();
            return Duration.parse(text.startsWith("P") ? text : "PT" + text);
        } catch (DateTimeParseException malformed) {
            throw new IllegalArgumentException(name + " \"" + value + "\": (expected: a time such as 30s)", malformed);
        }
    }

    private static void requireDuration(String name, @Nullable Duration value) {
        if (value == null || !value.isPositive() || value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(name + " \"" + value + "\": (expected: longer than nothing, up to 24h)");
        }
    }

    private static void requireRange(String name, int number, int least, int most) {
        if (number < least || number > most) {
            throw new IllegalArgumentException(name + ": " + number + " (expected: " + least + " to " + most + ")");
        }
    }
}
