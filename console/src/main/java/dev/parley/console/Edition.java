package dev.parley.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.protocol.support.Sha256;
import java.io.ByteArrayOutputStream;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The page of a console, with one set of files. Safe for any thread. */
final class Edition {
    static final String APP = "app.js";
    static final String DOCUMENTS = ConsoleFiles.DOCUMENTS + "pages.json";
    /** The style sheet of the pages. */
    static final String STYLES = "style.css";

    private static final String FIRST_STYLE = "style/tokens.css";

    private final ConsoleFiles files;
    private final String hash;
    /** Address of the files, relative to that of the console. */
    private final String at;

    private final String map;
    private final String policy;
    private final Map<Integer, Asset> pages = new ConcurrentHashMap<>();
    private final Map<String, Asset> assets = new ConcurrentHashMap<>();

    /** @param hash of the files, in their addresses */
    Edition(ConsoleFiles files, String hash) {
        this.files = files;
        this.hash = hash;
        this.at = "." + Console.FILES + hash + "/";
        this.map = importMap(at);
        this.policy = policy(Base64.getEncoder().encodeToString(Sha256.of(map.getBytes(UTF_8))));
    }

    /** Hash of the files. */
    String hash() {
        return hash;
    }

    /**
     * Returns the page for the addresses of a depth. Its base leads back to the address of the console, to which all others are relative:
     * it works at the hub's own address, and where a proxy serves the hub below a path.
     *
     * @param depth directories of the address below that of the console
     */
    Asset page(int depth) {
        Asset page = pages.get(depth);
        if (page == null) {
            page = made(depth); // not under a lock of the map, as it reads a file
            pages.put(depth, page);
        }
        return page;
    }

    private Asset made(int depth) {
        String base = depth == 0 ? "./" : "../".repeat(depth);
        Asset page = Asset.of("index.html", html(files, base, at, map).getBytes(UTF_8));
        if (page == null) {
            throw new IllegalStateException("no media type for HTML");
        }
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
        byte[] bytes = switch (path) {
            case DOCUMENTS -> documents();
            case STYLES -> styles();
            default -> files.read(path);
        };
        Asset asset = bytes == null ? null : Asset.of(path, bytes);
        if (asset != null) {
            assets.put(path, asset); // as many as there are files
        }
        return asset;
    }

    /** All documents in one file, by which the page searches them. */
    private byte[] documents() {
        var texts = new TreeMap<String, String>();
        for (String path : files.own()) {
            byte[] text = path.startsWith(ConsoleFiles.DOCUMENTS) && path.endsWith(".md") ? files.read(path) : null;
            if (text != null) {
                texts.put(path.substring(ConsoleFiles.DOCUMENTS.length(), path.length() - 3), new String(text, UTF_8));
            }
        }
        return Json.write(texts);
    }

    /** All sheets in one, which compresses better than each by itself, and loads with one request. The tokens come first. */
    private byte[] styles() {
        var sheet = new ByteArrayOutputStream();
        Stream.concat(
                        Stream.of(FIRST_STYLE),
                        files.own().stream()
                                .filter(path -> path.startsWith("style/") && path.endsWith(".css"))
                                .filter(path -> !path.equals(FIRST_STYLE)))
                .map(files::read)
                .forEach(text -> sheet.writeBytes(requireNonNull(text)));
        return sheet.toByteArray();
    }

    /** Allows own files, the import map, and connections to this hub. The base is the one of the page. */
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
        html.append("<link rel=\"stylesheet\" href=\"")
                .append(escaped(at + STYLES))
                .append("\">\n");
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

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }
}
