package dev.parley.registry.document;

import dev.parley.protocol.A2AException;
import dev.parley.registry.RegistryError;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds values in documents that look like secrets: keys and tokens of known forms, private keys, tokens of identity, passwords in URLs, and
 * values of members that are named after a secret. Placeholders are not secrets. Takes time in proportion to the length of the document.
 */
public final class SecretScan {
    /**
     * A format of secrets.
     *
     * @param marks texts of which each secret of the format has one: to look for them takes a fraction of the time of the pattern
     */
    private record SecretFormat(String name, Pattern pattern, List<String> marks) {
        boolean isPossible(String text) {
            return marks.stream().anyMatch(text::contains);
        }
    }

    private static final SecretFormat WEB_TOKEN = format(
            "a JSON Web Token",
            "eyJ",
            "(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_-]{10,2000}+\\.(eyJ[A-Za-z0-9_-]{10,2000}+\\.|([A-Za-z0-9_-]{0,2000}+\\.){2}[A-Za-z0-9_-]{1,2000}+\\.)");

    /** Forms with beginnings of their own. Repetitions are bounded, so that long texts take no longer than their length. */
    private static final List<SecretFormat> FORMATS = List.of(
            format(
                    "a private key",
                    "PRIVATE|SECRET",
                    "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|\\bAGE-SECRET-KEY-1[A-Z0-9]{20,}"),
            format(
                    "a key of a hub",
                    "parley_",
                    "\\bparley_[A-Za-z0-9_-]{8}_(?=[a-z_-]{0,31}[0-9A-Z])[A-Za-z0-9_-]{32}"),
            format("a key of a registry", "avreg_", "\\bavreg_[A-Za-z0-9_-]{40,}"),
            format("a secret of webhooks", "whsec_", "\\bwhsec_[A-Za-z0-9+/=]{24,}"),
            format(
                    "a key of a model provider",
                    "sk-|gsk_|xai-|r8_",
                    "\\b(sk-(?=[A-Za-z0-9_-]{0,60}[0-9])([A-Za-z0-9_]{1,20}-){0,3}[A-Za-z0-9_]{16,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}"
                            + "|r8_[A-Za-z0-9]{30,})"),
            format("a payment key", "k_live_|k_test_", "\\b[sr]k_(live|test)_[A-Za-z0-9]{16,}"),
            format(
                    "a token of GitHub",
                    "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
                    "\\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
            format("a token of GitLab", "glpat-|glrt-|gldt-|glptt-", "\\bgl(pat|rt|dt|ptt)-[A-Za-z0-9_-]{20,}"),
            format(
                    "a token of Slack",
                    "xox|xapp-|hooks.slack.com",
                    "\\b(xox[abeoprs](\\.xox[bp])?-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,})|hooks\\.slack\\.com/services/[A-Z0-9]{6,}/[A-Z0-9]{6,}/[A-Za-z0-9]{16,}"),
            format("an access key of AWS", "AKIA|ASIA|ABIA", "\\b(AKIA|ASIA|ABIA)[A-Z0-9]{16}\\b"),
            format(
                    "a key of Azure",
                    "=|Q~|JQQJ99",
                    "(?i:\\b(AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{40,}=|\\b[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"
                            + "|\\b[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,}"),
            format(
                    "a key of Google",
                    "AIza|ya29.|GOCSPX-|1//0",
                    "\\b(AIza[A-Za-z0-9_-]{35}|ya29\\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})|\\b1//0[A-Za-z0-9_-]{30,}"),
            format(
                    "a token of a package registry",
                    "npm_|hf_|pypi-",
                    "\\b(npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,})"),
            format("a key of a mail provider", "SG.", "\\bSG\\.[A-Za-z0-9_-]{16,100}\\.[A-Za-z0-9_-]{16,}"),
            format(
                    "a token of a service",
                    "dop_v1_|hvs.|dapi|shpat_|shpss_|shpca_|SK|lin_api_|:AA",
                    "\\b(dop_v1_[a-f0-9]{64}|hvs\\.[A-Za-z0-9_-]{20,}|dapi[a-f0-9]{32}|shp(at|ss|ca)_[a-fA-F0-9]{32}|SK[0-9a-f]{32}"
                            + "|lin_api_[A-Za-z0-9]{30,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33})\\b"));

    /** A secret access key of AWS has no beginning of its own: 40 characters of base64 that are not a digest in hexadecimal digits. */
    private static final Pattern AWS_SECRET =
            Pattern.compile("(?<![A-Za-z0-9/+=_-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])");

    private static final Pattern URL_PASSWORD =
            Pattern.compile("\\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^/\\s:@?#]{0,200}:([^/\\s@?#]{1,200})@");
    private static final Pattern IN_QUERY = Pattern.compile(
            "[?&](?i:api[_-]?key|key|access[_-]?token|token|auth|secret|client[_-]?secret|password|sig|signature)=([^&\\s#]{12,})");
    private static final Pattern IN_HEADER = Pattern.compile("\\b(?i:bearer|basic)\\s{1,4}([A-Za-z0-9._~+/=-]{16,})");
    private static final Pattern OF_AUTHORIZATION = Pattern.compile(
            "(?i)authorization[\"']?\\s{0,4}[:=]\\s{0,4}[\"']?(?:bearer|basic|token|digest)\\s{1,4}([^\\s\"',;]{8,})");
    private static final Pattern SCHEME = Pattern.compile("(?i)(?:bearer|basic|token|digest|apikey)\\s+(\\S{8,})");

    private static final String NAMES =
            "(secret|password|passwd|passphrase|pwd|token|credential|credentials|api[_-]?key|access[_-]?key"
                    + "|secret[_-]?key|private[_-]?key|account[_-]?key|auth[_-]?key|signing[_-]?key|connection[_-]?string)";
    /** Ends of names of members that hold secrets. */
    private static final Pattern NAMED = Pattern.compile("(?i)(^|[a-z0-9_-])" + NAMES + "s?([_-]?value)?$");

    private static final Pattern AUTHORIZATION =
            Pattern.compile("(?i)(proxy[_-]?)?authori[sz]ation([_-]?header)?|cookie|set-cookie");

    private static final Pattern NAMED_IN_TEXT =
            Pattern.compile("(?i)" + NAMES + "[\"']?\\s{0,4}[:=]\\s{0,4}[\"']?([^\\s\"',;]{12,200})");

    private static final Pattern PLACEHOLDER =
            Pattern.compile("(?i)[<{$%\\[]|\\*{3}|x{4}|\\.{3}|…|your|example|placeholder|changeme|redacted|insert");
    private static final Pattern WORDS_FOR_TOKENS = Pattern.compile(
            "(?i)((my|the|some|access|id|api|jwt|bearer|auth|session|user|client|valid)[_-]?)*(token|key|jwt|secret|credentials?)[0-9]?");
    private static final int SHORTEST = 8;

    /** Members that hold signatures, which look like secrets. */
    private static final Set<String> PUBLIC =
            Set.of("signatures", "signature", "jws", "trustManifest", "trustManifests");

    /** Stands for the name of a member that holds signatures. */
    private static final String SIGNED = " signed";

    private SecretScan() {}

    /** @param marks with bars between them */
    private static SecretFormat format(String name, String marks, String pattern) {
        return new SecretFormat(name, Pattern.compile(pattern), List.of(marks.split("\\|", -1)));
    }

    /**
     * Refuses a document with a secret.
     *
     * @throws A2AException SECRET_FOUND with the path of the value, and without the value
     */
    public static void refuse(@Nullable Object json) {
        String found = find(json, "", "");
        if (found != null) {
            throw A2AException.of(
                    RegistryError.SECRET_FOUND,
                    found + " (expected: a document without secrets; callers get them elsewhere)",
                    Map.of("path", found.substring(0, found.indexOf(": "))));
        }
    }

    /** The path of a secret in a document and its kind, with a colon between them; null if there is none. */
    public static @Nullable String find(Map<?, ?> document) {
        return find(document, "", "");
    }

    /** The path of a secret and its kind; null if there is none. */
    static @Nullable String find(@Nullable Object json, String path, String name) {
        return switch (json) {
            case Map<?, ?> members -> inMembers(members, path);
            case List<?> elements -> {
                for (int i = 0; i < elements.size(); i++) {
                    String found = find(elements.get(i), path + "[" + i + "]", name);
                    if (found != null) {
                        yield found;
                    }
                }
                yield null;
            }
            case String text -> {
                String kind = kind(text, name);
                yield kind == null ? null : (path.isEmpty() ? "document" : path) + ": looks like " + kind;
            }
            case null, default -> null;
        };
    }

    private static @Nullable String inMembers(Map<?, ?> members, String path) {
        for (Map.Entry<?, ?> member : members.entrySet()) {
            String name = String.valueOf(member.getKey());
            String at = path.isEmpty() ? name : path + "." + name;
            String inName = formOf(name);
            if (inName != null) {
                return (path.isEmpty() ? "document" : path) + ": a name looks like " + inName;
            }
            if (name.equals("d") && members.containsKey("kty") && member.getValue() instanceof String) {
                return at + ": looks like a private key";
            }
            String found = find(member.getValue(), at, PUBLIC.contains(name) ? SIGNED : header(members, name));
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** The name of a value: of a header, that which stands beside it. */
    private static String header(Map<?, ?> members, String name) {
        if (name.equals("value")) {
            for (String other : List.of("name", "key", "header")) {
                if (members.get(other) instanceof String text) {
                    return text;
                }
            }
        }
        return name;
    }

    private static @Nullable String formOf(String text) {
        if (text.length() < SHORTEST) {
            return null;
        }
        for (SecretFormat format : FORMATS) {
            if (holds(format, text)) {
                return format.name();
            }
        }
        return null;
    }

    private static boolean holds(SecretFormat format, String text) {
        if (!format.isPossible(text)) {
            return false;
        }
        var match = format.pattern().matcher(text);
        while (match.find()) {
            if (!PLACEHOLDER.matcher(match.group()).find()) {
                return true;
            }
        }
        return false;
    }

    private static @Nullable String kind(String text, String name) {
        if (text.length() < SHORTEST) {
            return null;
        }
        String format = formOf(text);
        if (format != null || name.equals(SIGNED)) {
            return format;
        }
        if (holds(WEB_TOKEN, text)) {
            return WEB_TOKEN.name();
        }
        if (text.contains("://") && holds(URL_PASSWORD, text, false)) {
            return "a password in a URL";
        }
        boolean isAssigned = text.indexOf('=') >= 0;
        if (isAssigned && holds(IN_QUERY, text, true)) {
            return "a secret in a URL";
        }
        String lower = text.toLowerCase(Locale.ROOT);
        if ((lower.contains("bearer") || lower.contains("basic")) && holds(IN_HEADER, text, true)
                || lower.contains("authorization") && holds(OF_AUTHORIZATION, text, false)
                || AUTHORIZATION.matcher(name).matches() && (holds(SCHEME, text, false) || isRandom(text))) {
            return "credentials";
        }
        if ((isAssigned || text.indexOf(':') >= 0) && holds(NAMED_IN_TEXT, text, true)) {
            return "a secret, by the name before it";
        }
        if (isAwsSecret(text)) {
            return "a secret access key of AWS";
        }
        return NAMED.matcher(name).find() && isRandom(text) ? "a secret, by its name" : null;
    }

    private static boolean isAwsSecret(String text) {
        var match = AWS_SECRET.matcher(text);
        while (match.find()) {
            String key = match.group();
            long slashes = key.chars().filter(c -> c == '/').count();
            if (!PLACEHOLDER.matcher(key).find()
                    && slashes <= 4
                    && key.chars().filter(c -> c >= '0' && c <= '9').count() >= 2
                    && key.chars().filter(c -> c >= 'A' && c <= 'Z').count() >= 6
                    && key.chars().filter(c -> c >= 'a' && c <= 'z').count() >= 6
                    && key.chars().distinct().count() >= 18) {
                return true;
            }
        }
        return false;
    }

    private static boolean holds(Pattern pattern, String text, boolean isRandom) {
        var match = pattern.matcher(text);
        while (match.find()) {
            String value = match.group(match.groupCount());
            if (!PLACEHOLDER.matcher(value).find()
                    && !WORDS_FOR_TOKENS.matcher(value).matches()
                    && (!isRandom || isRandom(value))) {
                return true;
            }
        }
        return false;
    }

    /** Whether a value looks random: it is not a word, name, path or address. */
    private static boolean isRandom(String text) {
        boolean hasDigit = text.chars().anyMatch(Character::isDigit);
        boolean hasLetter = text.chars().anyMatch(Character::isLetter);
        boolean isOneWord = text.chars().noneMatch(Character::isWhitespace);
        return hasDigit
                && hasLetter
                && isOneWord
                && text.length() >= SHORTEST
                && !text.contains("://")
                && !text.startsWith("/")
                && !text.startsWith("urn:")
                && !PLACEHOLDER.matcher(text).find();
    }
}
