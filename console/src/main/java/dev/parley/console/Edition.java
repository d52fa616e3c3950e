package dev.parley.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.protocol.support.Sha256;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The page of a console, with one set of files. Safe for any thread. */
final class Edition {
    static final String APP = "app.js";
    private static final String FIRST_STYLE = "style/tokens.css";

    private final ConsoleFiles files;
    private final String hash;
    private final Asset page;
    private final String policy;
    private final Map<String, Asset> assets = new ConcurrentHashMap<>();

    private Edition(ConsoleFiles files, String hash, Asset page, String policy) {
        this.files = files;
        this.hash = hash;
        this.page = page;
        this.policy = policy;
    }

    /**
     * Makes the page.
     *
     * @param root address of the console, with the path of the public URL
     * @param hash of the files, in their addresses
     */
    static Edition of(ConsoleFiles files, String root, String hash) {
        String at = root + Console.FILES + hash + "/";
        String map = importMap(at);
        byte[] html = html(files, root + "/", at, map).getBytes(UTF_8);
        String mapHash = Base64.getEncoder().encodeToString(Sha256.of(map.getBytes(UTF_8)));
        Asset page = Asset.of("index.html", html);
        if (page == null) {
            throw new IllegalStateException("no media type for HTML");
        }
        return new Edition(files, hash, page, policy(mapHash));
    }

    /** Hash of the files. */
    String hash() {
        return hash;
    }

    Asset page() {
        return page;
    }

    /** Content-Security-Policy of the page and its files. */
    String policy() {
        return policy;
    }

    /** Returns a file; null if there is none that pages use. */
    @Nullable
    Asset file(String path) {
        Asset known = assets.get(path);
        if (known != null) {
            return known;
        }
        byte[] bytes = files.read(path);
        Asset asset = bytes == null ? null : Asset.of(path, bytes);
        if (asset != null) {
            assets.put(path, asset); // as many as there are files
        }
        return asset;
    }

    /** Allows own files, the import map, and connections to this hub. The base is the one of the page, for a hub below a path. */
    private static String policy(String mapHash) {
        return "default-src 'self'; script-src 'self' 'sha256-" + mapHash
                + "'; style-src 'self'; img-src 'self' data: blob:;"
                + " connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'none'; frame-ancestors 'none';"
                + " require-trusted-types-for 'script'; trusted-types lit-html dompurify";
    }

    private static String importMap(String at) {
        var imports = new LinkedHashMap<String, String>();
        for (Library library : Library.ALL) {
            String directory = at + ConsoleFiles.LIBRARIES + library.artifact() + "/";
            imports.put(library.name(), directory + library.main());
            imports.put(library.name() + "/", directory);
        }
        return new String(Json.write(Map.of("imports", imports)), UTF_8);
    }

    private static String html(ConsoleFiles files, String base, String at, String map) {
        var html = new StringBuilder("""
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <base href="%s">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>Parley</title>
            """.formatted(escaped(base)));
        html.append("<link rel=\"icon\" href=\"")
                .append(files.own().contains("icon.svg") ? escaped(at) + "icon.svg" : "data:,")
                .append("\">\n");
        for (String style : styles(files)) {
            html.append("<link rel=\"stylesheet\" href=\"")
                    .append(escaped(at + style))
                    .append("\">\n");
        }
        html.append("<script type=\"importmap\">").append(map).append("</script>\n");
        for (String module : Modules.of(files).reachable(APP)) {
            html.append("<link rel=\"modulepreload\" href=\"")
                    .append(escaped(at + module))
                    .append("\">\n");
        }
        return html.append("<script type=\"module\" src=\"")
                .append(escaped(at + APP))
                .append("\"></script>\n</head>\n<body>\n</body>\n</html>\n")
                .toString();
    }

    /** The tokens come first. */
    static List<String> styles(ConsoleFiles files) {
        List<String> styles = files.own().stream()
                .filter(path -> path.startsWith("style/") && path.endsWith(".css"))
                .toList();
        return Stream.concat(
                        styles.stream().filter(FIRST_STYLE::equals),
                        styles.stream().filter(each -> !each.equals(FIRST_STYLE)))
                .toList();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }
}
