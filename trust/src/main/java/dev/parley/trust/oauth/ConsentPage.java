package dev.parley.trust.oauth;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.trust.tokens.Clients.Client;
import java.net.URI;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The page on which a user signs in and allows a client to call the agents. It runs no script and cannot be framed. */
public final class ConsentPage {
    /** Address of the page as its form has it. Relative: a proxy may serve the hub below a path. */
    public static final String ACTION = "authorize";

    private static final String STYLE = "/ui/home.css";

    private ConsentPage() {}

    /**
     * The page.
     *
     * @param asked parameters of the request, which come back with the answer of the user
     * @param problem with the answer before; empty for none
     */
    public static WireAnswer.Whole ask(
            String hub,
            Client client,
            String redirect,
            Collection<String> scopes,
            Map<String, String> asked,
            int status,
            String problem) {
        var hidden = new StringBuilder();
        asked.forEach((name, value) -> hidden.append("<input type=\"hidden\" name=\"")
                .append(escaped(name))
                .append("\" value=\"")
                .append(escaped(value))
                .append("\">\n"));
        String name = client.name().isBlank() ? "A program without a name" : client.name();
        return answer(status, origin(redirect), "Allow access?", """
                <h1>Allow access to the agents of this hub?</h1>
                <p><strong><bdi>%s</bdi></strong> asks to call the agents of <code>%s</code> as you.</p>
                <dl>
                <dt>Returns to</dt><dd><code>%s</code></dd>
                <dt>Scopes</dt><dd>%s</dd>
                </dl>
                <p>The program has chosen its name itself. Continue only if you have just started it.</p>
                %s<form method="post" action="%s">
                %s<p><label>Your API key <input type="password" name="key" autocomplete="off" required></label></p>
                <p><button name="decision" value="allow">Allow</button>
                <button name="decision" value="deny" formnovalidate>Deny</button></p>
                </form>
                """.formatted(
                escaped(name),
                escaped(hub),
                escaped(redirect),
                scopes.isEmpty() ? "those of your key, except for administration" : escaped(String.join(", ", scopes)),
                problem.isEmpty() ? "" : "<p role=\"alert\"><strong>" + escaped(problem) + "</strong></p>\n",
                ACTION,
                hidden));
    }

    /** A refusal that is not redirected to the client's address, because that address may belong to another party. */
    public static WireAnswer.Whole refuse(int status, String problem) {
        return answer(
                status,
                "",
                "Not possible",
                "<h1>The program cannot be given access</h1>\n<p>" + escaped(problem)
                        + "</p>\n<p>Start to sign in again in the program.</p>\n");
    }

    private static WireAnswer.Whole answer(int status, String form, String title, String body) {
        var headers = new LinkedHashMap<String, String>();
        headers.put("Content-Type", "text/html; charset=utf-8");
        headers.put("Cache-Control", "no-store");
        // Browsers apply form-action to the address to which the answer of the form leads, too.
        headers.put(
                "Content-Security-Policy",
                "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
                        + (form.isEmpty() ? "" : " " + form));
        headers.put("X-Frame-Options", "DENY");
        headers.put("Referrer-Policy", "same-origin"); // else the form would come from the origin "null"
        String html = """
                <!doctype html>
                <html lang="en">
                <head>
                  <meta charset="utf-8">
                  <meta name="viewport" content="width=device-width, initial-scale=1">
                  <title>%s – Parley</title>
                  <link rel="stylesheet" href="..%s">
                </head>
                <body>
                %s</body>
                </html>
                """.formatted(title, STYLE, body);
        return new WireAnswer.Whole(status, headers, html.getBytes(UTF_8));
    }

    /** The origin of an address, or the scheme of a program, as a policy has it. */
    private static String origin(String redirect) {
        URI uri = URI.create(redirect);
        String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
        return scheme.equals("http") || scheme.equals("https") ? scheme + "://" + uri.getRawAuthority() : scheme + ":";
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }
}
