package dev.parley.registry.store;

import dev.parley.protocol.A2AException;
import dev.parley.registry.RegistryError;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds values in documents that look like secrets: keys and tokens of known forms, private keys, tokens of identity, passwords in URLs, and
 * values of members that are named after a secret. Placeholders are none.
 */
final class Secrets {
    /** A form of secrets. */
    private record Form(String name, Pattern pattern) {}

    private static final List<Form> FORMS = List.of(
            form("a private key", "-----BEGIN [A-Z0-9 ]*PRIVATE KEY"),
            form("a JSON Web Token", "\\beyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]*"),
            form("a key of a model provider", "\\bsk-[A-Za-z0-9_-]{20,}"),
            form("a payment key", "\\b[sr]k_(live|test)_[A-Za-z0-9]{16,}"),
            form("a token of GitHub", "\\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
            form("a token of GitLab", "\\bglpat-[A-Za-z0-9_-]{20,}"),
            form("a token of Slack", "\\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
            form("an access key of AWS", "\\b(AKIA|ASIA)[A-Z0-9]{16}\\b"),
            form("a key of Google", "\\b(AIza[A-Za-z0-9_-]{35}|ya29\\.[A-Za-z0-9_-]{20,})"),
            form(
                    "a token of a package registry",
                    "\\b(npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,})"),
            form("a key of a mail provider", "\\bSG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}"),
            form("a key of a registry", "\\bavreg_[A-Za-z0-9_-]{40,}"));

    private static final Pattern URL_PASSWORD =
            Pattern.compile("\\b[a-zA-Z][a-zA-Z0-9+.-]*://[^/\\s:@?#]*:([^/\\s@?#]+)@");
    private static final Pattern IN_QUERY = Pattern.compile(
            "[?&](?i:api[_-]?key|key|access[_-]?token|token|auth|secret|client[_-]?secret|password|sig|signature)=([^&\\s#]{12,})");
    private static final Pattern IN_HEADER = Pattern.compile("\\b(?i:bearer|basic)\\s+([A-Za-z0-9._~+/=-]{16,})");
    private static final Pattern NAMED = Pattern.compile(
            "(?i)(x[_-])?(api[_-]?key|access[_-]?key|secret|client[_-]?secret|secret[_-]?key|password|passwd|passphrase|private[_-]?key"
                    + "|access[_-]?token|refresh[_-]?token|auth[_-]?token|bearer[_-]?token|token|credential)(value)?");
    private static final Pattern PLACEHOLDER =
            Pattern.compile("(?i)[<{$%\\[]|\\*{3}|x{4}|\\.{3}|your|example|placeholder|changeme|redacted|insert");
    private static final int SHORTEST = 8;

    /** Members that hold signatures, which are no secrets. */
    private static final Set<String> PUBLIC =
            Set.of("signatures", "signature", "jws", "trustManifest", "trustManifests");

    private Secrets() {}

    private static Form form(String name, String pattern) {
        return new Form(name, Pattern.compile(pattern));
    }

    /**
     * Refuses a document with a secret.
     *
     * @throws A2AException SECRET_FOUND with the path of the value, and without the value
     */
    static void refuse(@Nullable Object json) {
        String found = find(json, "", "");
        if (found != null) {
            throw A2AException.of(
                    RegistryError.SECRET_FOUND,
                    found + " (expected: a document without secrets; callers get them elsewhere)",
                    Map.of("path", found.substring(0, found.indexOf(": "))));
        }
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
            if (PUBLIC.contains(name)) {
                continue;
            }
            if (name.equals("d") && members.containsKey("kty") && member.getValue() instanceof String) {
                return at + ": looks like a private key";
            }
            String found = find(member.getValue(), at, name);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static @Nullable String kind(String text, String name) {
        if (text.length() < SHORTEST) {
            return null;
        }
        for (Form form : FORMS) {
            var match = form.pattern().matcher(text);
            if (match.find() && !PLACEHOLDER.matcher(match.group()).find()) {
                return form.name();
            }
        }
        if (holds(URL_PASSWORD, text, false)) {
            return "a password in a URL";
        }
        if (holds(IN_QUERY, text, true)) {
            return "a secret in a URL";
        }
        if (holds(IN_HEADER, text, true)) {
            return "credentials";
        }
        return NAMED.matcher(name).matches() && isRandom(text) ? "a secret, by its name" : null;
    }

    private static boolean holds(Pattern pattern, String text, boolean isRandom) {
        var match = pattern.matcher(text);
        while (match.find()) {
            String value = match.group(1);
            if (!PLACEHOLDER.matcher(value).find() && (!isRandom || isRandom(value))) {
                return true;
            }
        }
        return false;
    }

    /** Whether a value is no word, name, path or address, as secrets are none. */
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
