package dev.parley.interop;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Links of pages in a directory, as a browser follows them: each file and each anchor has to be there. */
final class SitePages {
    private static final Pattern LINK = Pattern.compile("(?:href|src)=\"([^\"]*)\"");
    private static final Pattern ANCHOR = Pattern.compile("\\b(?:id|name)=\"([^\"]*)\"");

    /** The anchors of each page. */
    private final Map<Path, Set<String>> anchors = new HashMap<>();

    private final List<String> broken = new ArrayList<>();
    private int links;

    SitePages(Path root) throws IOException {
        List<Path> pages;
        try (Stream<Path> files = Files.walk(root)) {
            pages = files.filter(file -> file.toString().endsWith(".html")).toList();
        }
        var texts = new HashMap<Path, String>();
        for (Path page : pages) {
            String text = Files.readString(page).replaceAll("(?s)<script[^>]*>.*?</script>", "");
            texts.put(page, text);
            var ids = new HashSet<String>();
            Matcher matcher = ANCHOR.matcher(text);
            while (matcher.find()) {
                ids.add(unescaped(matcher.group(1)));
            }
            anchors.put(page, ids);
        }
        texts.forEach(this::check);
    }

    private void check(Path page, String text) {
        Matcher found = LINK.matcher(text);
        while (found.find()) {
            links++;
            String link = unescaped(found.group(1));
            if (link.matches("[a-z]+:.*")) {
                continue;
            }
            String[] fields = link.split("#", 2);
            String file = fields[0].replaceFirst("\\?.*", "");
            Path target =
                    file.isEmpty() ? page : page.resolveSibling(decoded(file)).normalize();
            if (!Files.exists(target)) {
                broken.add(page + ": " + link);
            } else if (fields.length == 2 && !fields[1].isEmpty() && anchors.containsKey(target)) {
                Set<String> ids = anchors.getOrDefault(target, Set.of());
                if (!ids.contains(fields[1]) && !ids.contains(decoded(fields[1]))) {
                    broken.add(page + ": " + link);
                }
            }
        }
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static String unescaped(String text) {
        return text.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&amp;", "&");
    }

    /** Links that lead to nothing, with their pages. */
    List<String> broken() {
        return broken;
    }

    int links() {
        return links;
    }

    int pages() {
        return anchors.size();
    }
}
