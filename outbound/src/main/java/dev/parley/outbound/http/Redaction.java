package dev.parley.outbound.http;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Blacks out credentials: those that this client was given, wherever they turn up, and what by its name is one.
 *
 * <p>Immutable.
 */
public final class Redaction {
    public static final String MASK = "***";

    private static final String NAMES = "authorization|cookie|api-?_?key|secret|password|credentials?|(?<!page)token";
    private static final Pattern HEADER = Pattern.compile(NAMES, Pattern.CASE_INSENSITIVE);
    private static final Pattern MEMBER =
            Pattern.compile("\"[\\w-]{0,64}(?:" + NAMES + ")\"\\s{0,9}:\\s{0,9}\"", Pattern.CASE_INSENSITIVE);
    private static final Pattern PARAMETER =
            Pattern.compile("([?&][\\w-]{0,64}(?:" + NAMES + "|key|sig|signature)=)[^&#]*", Pattern.CASE_INSENSITIVE);
    /** Shorter ones would black out half of every body, and are not secrets. */
    private static final int MIN_SECRET_LENGTH = 4;

    private final Set<String> headers;
    private final List<String> secrets;
    private final String mask;

    /**
     * @param headers names of headers with secret values, besides those that look like it
     * @param secrets values that must not be seen in any place
     */
    public Redaction(Collection<String> headers, Collection<String> secrets) {
        this(headers, secrets, MASK);
    }

    /** The same with another text in the place of credentials. */
    public Redaction(Collection<String> headers, Collection<String> secrets, String mask) {
        this.mask = mask;
        this.headers =
                headers.stream().map(name -> name.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
        var longest = new ArrayList<>(secrets);
        longest.removeIf(secret -> secret.length() < MIN_SECRET_LENGTH);
        longest.sort((a, b) -> b.length() - a.length()); // a secret within another one must not split it
        this.secrets = List.copyOf(longest);
    }

    public Map<String, List<String>> headers(Map<String, List<String>> headers) {
        var shown = new LinkedHashMap<String, List<String>>();
        headers.forEach((name, values) -> shown.put(
                name,
                HEADER.matcher(name).find() || this.headers.contains(name.toLowerCase(Locale.ROOT))
                        ? List.of(mask)
                        : values.stream().map(this::secrets).toList()));
        return shown;
    }

    public String url(String url) {
        return PARAMETER.matcher(secrets(url)).replaceAll("$1" + Matcher.quoteReplacement(mask));
    }

    public String body(String body) {
        String text = secrets(body);
        Matcher member = MEMBER.matcher(text);
        var shown = new StringBuilder();
        int from = 0;
        while (member.find(from)) {
            shown.append(text, from, member.end()).append(mask);
            from = endOfString(text, member.end());
        }
        return shown.append(text, from, text.length()).toString();
    }

    /** End of the JSON string that begins at {@code from}; a pattern would recurse for every character. */
    private static int endOfString(String text, int from) {
        int i = from;
        while (i < text.length() && text.charAt(i) != '"') {
            i += text.charAt(i) == '\\' ? 2 : 1;
        }
        return Math.min(i, text.length());
    }

    private String secrets(String text) {
        String shown = text;
        for (String secret : secrets) {
            shown = shown.replace(secret, mask);
        }
        return shown;
    }
}
