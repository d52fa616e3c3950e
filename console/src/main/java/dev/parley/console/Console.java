package dev.parley.console;

import static java.util.Map.entry;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubResource;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.Lazy;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The console of one hub: a page at every address below {@value #PATH} that no other resource has, and the files of the page below
 * {@value #PATH}{@value #FILES}, with a hash of all files in their addresses.
 */
final class Console implements HubExtension {
    static final String PATH = "/ui";
    static final String FILES = "/-/";

    private static final String SESSION = FILES + "session";

    /** Address of the screen of the knowledge graph before the console had one. */
    private static final String GRAPH = "/graph";

    /**
     * Names of the pages of accounts of AgentVault, to which links in mails lead, with the addresses in their place, relative to that of
     * the console.
     */
    private static final Map<String, String> ACCOUNTS = Map.ofEntries(
            entry("developer", ""),
            entry("register", "?tab=signup"),
            entry("login", ""),
            entry("forgot-password", "?tab=recover"),
            entry("recover-with-key", "?tab=recover"),
            entry("set-new-password", "?tab=recover"),
            entry("verify-success", "?verified=yes"),
            entry("verify-failed", "?verified=no"),
            entry("reset-requested", "?tab=recover"),
            entry("reset-success", ""),
            entry("reset-failed", "?tab=recover"));

    /** Directories of the longest address of a page. */
    private static final int DEEPEST = 16;

    /** Directory from which files are read at each request, for people who change them. */
    static final String DEVELOPMENT = "parley.console.dev";

    private final HubParts hub;
    private final boolean isOn;
    private final @Nullable String development = System.getProperty(DEVELOPMENT);
    private final Lazy<Edition> packaged = new Lazy<>(() -> {
        ConsoleFiles files = ConsoleFiles.packaged();
        return new Edition(files, files.hash());
    });

    Console(HubParts hub, boolean isOn) {
        this.hub = hub;
        this.isOn = isOn;
    }

    @Override
    public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
        return AgentExtension.of(ConsoleSource.URI, "Web console of a hub");
    }

    @Override
    public String name() {
        return "console";
    }

    @Override
    public Map<String, HubResource> resources() {
        if (!isOn) {
            return Map.of();
        }
        var resources = new HashMap<String, HubResource>();
        resources.put(PATH, this::answer);
        ACCOUNTS.forEach((name, query) -> resources.put(PATH + "/" + name, request -> redirect(request, query)));
        return resources;
    }

    private static WireAnswer redirect(WireRequest request, String query) {
        request.requireGet();
        if (!request.path().isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        return new WireAnswer.Whole(
                303, Map.of("Location", "registry/account" + query, "Cache-Control", "no-store"), new byte[0]);
    }

    @Override
    public boolean usesSessions() {
        return isOn;
    }

    @Override
    public Optional<String> startPage() {
        return isOn ? Optional.of(PATH + "/") : Optional.empty();
    }

    private WireAnswer answer(WireRequest request) {
        if (request.path().equals(SESSION) || request.path().startsWith(SESSION + "/")) {
            return hub.session(request.at(request.path().substring(SESSION.length())));
        }
        request.requireGet();
        String path = request.path();
        if (path.isEmpty()) {
            return redirect(PATH.substring(1) + "/");
        }
        if (path.equals(GRAPH)) {
            return redirect("kg"); // browsers keep the fragment, which has the parameters
        }
        Edition edition = edition();
        if (!path.startsWith(FILES)) {
            int depth = (int) path.chars().filter(each -> each == '/').count() - 1;
            if (depth > DEEPEST) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
            }
            return answer(request, edition.page(depth), "no-cache", edition.policy());
        }
        int end = path.indexOf('/', FILES.length());
        boolean isCurrent = end > 0 && path.substring(FILES.length(), end).equals(edition.hash());
        Asset asset = isCurrent ? edition.file(path.substring(end + 1)) : null;
        if (asset == null) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        String caching = development == null ? "public, max-age=31536000, immutable" : "no-store";
        return answer(request, asset, caching, edition.policy());
    }

    private static WireAnswer redirect(String location) {
        return new WireAnswer.Whole(307, Map.of("Location", location, "Cache-Control", "no-store"), new byte[0]);
    }

    private static WireAnswer answer(WireRequest request, Asset asset, String caching, String policy) {
        byte[] compressed = acceptsGzip(request) ? asset.gzip() : null;
        String tag = '"' + asset.hash() + (compressed == null ? "" : "-gzip") + '"';
        var headers = new LinkedHashMap<String, String>();
        headers.put("Cache-Control", caching);
        headers.put("Vary", "Accept-Encoding");
        headers.put("ETag", tag);
        headers.put("Content-Security-Policy", policy);
        headers.put("Cross-Origin-Opener-Policy", "same-origin");
        headers.put("Cross-Origin-Resource-Policy", "same-origin");
        if (request.hasVersion(tag)) {
            return new WireAnswer.Whole(304, headers, new byte[0]);
        }
        headers.put("Content-Type", asset.type());
        if (compressed != null) {
            headers.put("Content-Encoding", "gzip");
        }
        return new WireAnswer.Whole(200, headers, compressed == null ? asset.bytes() : compressed);
    }

    private static boolean acceptsGzip(WireRequest request) {
        String list = request.header("Accept-Encoding");
        if (list != null) {
            for (String each : list.split(",", -1)) {
                String[] parts = each.strip().split(";", 2);
                if (parts[0].strip().equals("gzip")
                        && (parts.length == 1 || !parts[1].replace(" ", "").matches("q=0(\\.0*)?"))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Made by the first request: the start of a hub does not wait for it. */
    private Edition edition() {
        if (development != null) {
            return new Edition(ConsoleFiles.in(Path.of(development)), "dev");
        }
        return packaged.get();
    }
}
