package dev.parley.registry;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Files {@code golden} beside a test with answers of a hub: a directory for each revision of a specification. The address of the hub,
 * times, keys and signatures are replaced by fixed ones. {@code -Dgolden.write=true} writes the files anew.
 *
 * @param url address of the hub
 */
public record GoldenFiles(Class<?> test, Caller web, String url) {
    private static final String DIRECTORY = "golden/";

    /** A request and the file with its answer. */
    public record Golden(String file, String method, String path, String body) {}

    /**
     * Compares an answer with its file.
     *
     * @param id is replaced in the path by a fixed one; empty for none
     */
    public void check(Golden golden, String id) throws Exception {
        Answer answer = golden.method().equals("GET") ? web.get(golden.path()) : web.post(golden.path(), golden.body());
        String written = golden.method() + " "
                + (id.isEmpty() ? golden.path() : golden.path().replace(id, "CARD")) + "\n"
                + golden.body().replace('\'', '"') + (golden.body().isEmpty() ? "" : "\n") + "\n" + answer.status()
                + " "
                + answer.header("Content-Type") + "\n\n"
                + indented(fixed("", Json.read(answer.body(), Object.class)), "") + "\n";
        String file = golden.file().replace('/', '-') + ".txt";
        if (Boolean.getBoolean("golden.write")) {
            Path to = Path.of(
                    "src/test/resources", test.getPackageName().replace('.', '/'), DIRECTORY, golden.file() + ".txt");
            Files.createDirectories(to.getParent());
            Files.writeString(to, written);
        }
        assertThat(written).as(file).isEqualTo(file(golden.file() + ".txt"));
    }

    private String file(String name) throws IOException {
        try (InputStream in = test.getResourceAsStream(DIRECTORY + name)) {
            return in == null ? "" : new String(in.readAllBytes(), UTF_8);
        }
    }

    /** JSON with fixed values in place of those that differ each time. */
    private @Nullable Object fixed(String name, @Nullable Object json) {
        return switch (json) {
            case Map<?, ?> reasons when name.equals("parley:why") -> "REASONS"; // of the search
            case Map<?, ?> object -> {
                var fixed = new TreeMap<String, @Nullable Object>(); // members have no order
                object.forEach(
                        (member, value) -> fixed.put(String.valueOf(member), fixed(String.valueOf(member), value)));
                yield fixed;
            }
            case List<?> list -> {
                var fixed = new ArrayList<@Nullable Object>();
                list.forEach(one -> fixed.add(fixed(name, one)));
                yield fixed;
            }
            case String text
            when List.of("jws", "x", "y", "kid").contains(name) -> name.toUpperCase(java.util.Locale.ROOT);
            case String text ->
                text.replace(url, "https://hub.example.com")
                        .replaceAll("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z", "2026-11-23T12:00:00Z")
                        .replaceAll("sha256:[0-9a-f]{64}", "sha256:DIGEST")
                        .replaceAll("(did:web:[a-z.]+#).+", "$1KID");
            case Number number when List.of("iat", "score").contains(name) -> 0;
            case null, default -> json;
        };
    }

    private static String indented(@Nullable Object json, String indent) {
        String deeper = indent + "  ";
        return switch (json) {
            case Map<?, ?> object
            when !object.isEmpty() -> {
                var members = new ArrayList<String>();
                object.forEach((name, value) ->
                        members.add(deeper + new String(Json.write(name), UTF_8) + ": " + indented(value, deeper)));
                yield "{\n" + String.join(",\n", members) + "\n" + indent + "}";
            }
            case List<?> list
            when !list.isEmpty() -> {
                var elements = new ArrayList<String>();
                list.forEach(one -> elements.add(deeper + indented(one, deeper)));
                yield "[\n" + String.join(",\n", elements) + "\n" + indent + "]";
            }
            case null -> "null";
            default -> new String(Json.write(json), UTF_8);
        };
    }
}
