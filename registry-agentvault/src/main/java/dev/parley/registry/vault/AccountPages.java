package dev.parley.registry.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.extension.HubPage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Pages to which links in mails lead, and which name the calls of accounts. They contain no data of the request. */
final class AccountPages {
    private static final List<String> TEXTS = List.of(
            "/ui",
            "Agent registry",
            "Agents are listed by GET /api/v1/agent-cards, and found by GET /registry/agents.",
            "/ui/developer",
            "Developers",
            "POST /developers/me/apikeys makes a key, POST /api/v1/agent-cards/ registers a card.",
            "/ui/register",
            "Registration",
            "POST /auth/register takes name, email and password.",
            "/ui/login",
            "Login",
            "POST /auth/login takes a form with username, which is the mail address, and password.",
            "/ui/forgot-password",
            "Forgotten password",
            "A recovery key of the registration sets a new password.",
            "/ui/recover-with-key",
            "Recovery",
            "POST /auth/recover-account takes email and recovery_key.",
            "/ui/set-new-password",
            "New password",
            "POST /auth/set-new-password takes new_password and the token of the recovery.",
            "/ui/verify-success",
            "Mail address verified",
            "The account is complete.",
            "/ui/verify-failed",
            "Mail address not verified",
            "The link is unknown, or older than 24 hours.",
            "/ui/reset-requested",
            "Reset requested",
            "A recovery key of the registration sets a new password.",
            "/ui/reset-success",
            "Password set",
            "Log in with the new password.",
            "/ui/reset-failed",
            "Password not set",
            "The token is unknown, used up, or older than five minutes.");

    /** The paths. */
    static final List<String> PATHS = List.copyOf(all().keySet());

    private AccountPages() {}

    /** The pages by their paths. */
    static Map<String, HubPage> all() {
        var pages = new LinkedHashMap<String, HubPage>();
        for (int i = 0; i < TEXTS.size(); i += 3) {
            String html =
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>" + TEXTS.get(i + 1)
                            + "</title></head>\n<body>\n<h1>" + TEXTS.get(i + 1) + "</h1>\n<p>" + TEXTS.get(i + 2)
                            + "</p>\n</body>\n</html>\n";
            pages.put(TEXTS.get(i), new HubPage("text/html; charset=utf-8", html.getBytes(UTF_8)));
        }
        return pages;
    }
}
