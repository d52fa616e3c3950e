package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** The settings in the console: keys and users, effective values, deliveries. */
@Timeout(120)
class SettingsScreenTest {
    private static final String SECRET = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

    @TempDir
    private Path directory;

    private ConsoleHub hub;
    private Browser browser;
    private String admin;

    @BeforeEach
    void start() {
        hub = new ConsoleHub(Hub.builder()
                .data(directory)
                .port(0)
                .set("auth", "required")
                .set("retention", "30d")
                .set("gateway-allow", "127.0.0.1")
                .set("encryption-key", SECRET));
        admin = hub.hub.bootstrapKey().orElseThrow();
        browser = Browser.at(hub.url());
    }

    @AfterEach
    void stop() {
        browser.close();
        hub.close();
    }

    private void open(String path) {
        browser.go(path);
        browser.signIn(admin);
        browser.see("h1", "Settings");
    }

    /** Text of the key that the dialog shows. */
    private String shownKey() {
        return browser.see("dialog .code pre", "parley_").getText().strip();
    }

    private void closeDialog() {
        browser.click("dialog footer button", "Done");
        browser.gone("dialog", "");
    }

    private void act(String user, String action) {
        browser.holds("[...document.querySelectorAll('.hub-keys .body .tr')].some(row => row.innerText.includes('"
                + user + "') && [...row.querySelectorAll('button')].some(button => button.textContent === '" + action
                + "'))");
        browser.run(
                "[...document.querySelectorAll('.hub-keys .body .tr')].filter(row => row.innerText.includes(arguments[0]))"
                        + ".flatMap(row => [...row.querySelectorAll('button')])"
                        + ".find(button => button.textContent === arguments[1]).click()",
                user,
                action);
    }

    @Test
    @DisplayName("S11: a key is named, limited, expiring, shown once, with its last use; it is rotated with an overlap,"
            + " and revoked; users and groups are shut out and admitted again")
    void keysAndUsers() {
        open("settings");
        browser.see(".hub-keys .tr .who", "admin");
        browser.see(".hub-keys .tr .use", "now");
        browser.see("settings-keys button", "New key");
        // A second click before the agents are read opens no second dialog.
        browser.run("const add = [...document.querySelectorAll('settings-keys button')].find(button =>"
                + " button.textContent === 'New key'); add.click(); add.click();");
        browser.see("dialog h2", "New key");
        browser.press(Keys.ESCAPE);
        browser.gone("dialog", "");
        browser.click("settings-keys button", "New key");
        browser.type("dialog input[name=principal]", "ann");
        browser.type("dialog input[name=group]", "team");
        browser.click("dialog button.chip", "agent:scribe");
        browser.choose("dialog select[name=days]", "7 days");
        browser.click("dialog footer button", "Create key");
        String first = shownKey();
        browser.click("dialog button.copy", "Copy");
        browser.picture("settings-key");
        closeDialog();
        browser.see(".hub-keys .tr .who", "ann");
        browser.see(".hub-keys .tr .scopes", "agent:scribe");
        assertThat(browser.strings("return [document.documentElement.outerHTML]")
                        .getFirst())
                .doesNotContain(first);

        hub.as(first, () -> hub.send("scribe", "Sum up the minutes"));
        browser.reload();
        browser.holds(
                "[...document.querySelectorAll('.hub-keys .body .tr')].some(row => row.innerText.includes('ann') &&"
                        + " !row.querySelector('.use').innerText.includes('never'))");

        act("ann", "Rotate");
        browser.choose("dialog select[name=overlap]", "an hour");
        browser.click("dialog footer button", "Create successor");
        String second = shownKey();
        closeDialog();
        browser.see(".hub-keys .tr .st", "rotated");
        hub.as(first, () -> hub.send("scribe", "Sum up the minutes"));
        hub.as(second, () -> hub.send("scribe", "Sum up the minutes"));

        act("ann", "Revoke");
        browser.click("dialog footer button", "Revoke");
        browser.see(".hub-keys .tr .st", "revoked");
        // A key that another operator makes is shown without a reload.
        hub.key("others", "gus");
        browser.see(".hub-keys .tr .who", "gus");
        browser.picture("settings-keys");

        // A dialog that is closed before the key is there opens again to show it.
        browser.click("settings-keys button", "New key");
        browser.type("dialog input[name=principal]", "hasty");
        browser.run("document.querySelector('dialog form').requestSubmit(); document.querySelector('dialog').close();");
        assertThat(shownKey()).startsWith("parley_");
        closeDialog();

        browser.click("[role=tab]", "Users and groups");
        browser.see("section[aria-label=Groups] li", "team");
        browser.click("settings-users button", "New user");
        browser.type("dialog input[name=group]", "zoo");
        browser.type("dialog input[name=name]", "<img src=x onerror=window.attacked=1>");
        browser.press(Keys.ENTER);
        browser.see("dialog .failure", "<img src=x");
        browser.type("dialog input[name=name]", "zoe");
        browser.press(Keys.ENTER);
        browser.see("section[aria-label=Users] li b", "zoe");
        browser.run("[...document.querySelectorAll('section[aria-label=Users] li')].find(row =>"
                + " row.innerText.includes('gus')).querySelector('button').click()");
        browser.click("dialog footer button", "Disable");
        browser.see("section[aria-label=Users] .state.bad", "disabled");
        browser.click("section[aria-label=Users] button", "Enable");
        browser.click("dialog footer button", "Enable");
        browser.gone("section[aria-label=Users] .state.bad", "");
        browser.run("[...document.querySelectorAll('section[aria-label=Groups] li')].find(row =>"
                + " row.innerText.includes('others')).querySelector('button').click()");
        browser.click("dialog footer button", "Archive");
        browser.see("section[aria-label=Groups] .state.bad", "archived");
        browser.click("section[aria-label=Groups] button", "Restore");
        browser.click("dialog footer button", "Restore");
        browser.gone("section[aria-label=Groups] .state.bad", "");
        browser.click("settings-users button", "New group");
        browser.type("dialog input[name=id]", "zoo");
        browser.press(Keys.ENTER);
        browser.see("dialog .failure", "exists already");
        browser.press(Keys.ESCAPE);
        assertThat(browser.run("return window.attacked")).isNull();
        browser.forget("status of 400");
        browser.assertQuiet("keys and users");
    }

    @Test
    @DisplayName("S11: each effective value has its source, type and description, and is found; secrets are not shown")
    void effectiveValues() {
        open("settings?tab=values");
        browser.see(".values li", "How long ended tasks are kept");
        browser.type("input[type=search]", "retention");
        browser.see(".values li .value", "30d");
        browser.see(".values li .state.run", "code of the program");
        browser.see(".values li", "a duration such as");
        browser.gone(".values li code", "bind");
        assertThat(browser.address()).contains("q=retention");

        browser.go("settings?tab=values&q=encryption-key");
        browser.see(".values li .value", "set (secret)");
        assertThat(browser.strings("return [document.documentElement.outerHTML]")
                        .getFirst())
                .doesNotContain(SECRET);
        browser.go("settings?tab=values&source=default");
        browser.see(".values li code", "bind");
        browser.gone(".values li code", "retention");
        browser.go("settings?tab=values&q=zzzz");
        browser.see(".empty h2", "No setting matches");
        browser.assertQuiet("values");
    }

    @Test
    @DisplayName(
            "S11: webhooks that failed are delivered again, one or all, with the next attempt of others; routes have"
                    + " their state and reason, and tools to approve are a link")
    void deliveries() throws IOException {
        var status = new AtomicInteger(410);
        var calls = new AtomicInteger();
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            calls.incrementAndGet();
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/busy") ? 503 : status.get(), -1);
            exchange.close();
        });
        receiver.start();
        try {
            String url = "http://127.0.0.1:" + receiver.getAddress().getPort();
            hub.as(admin, () -> {
                for (String path : List.of("/one", "/two", "/busy")) {
                    String task = hub.begin("worker", "Count for " + path);
                    hub.post(
                            "/agents/worker/tasks/" + task + "/pushNotificationConfigs",
                            Map.of("id", "pager", "taskId", task, "url", url + path));
                    hub.step("Count for " + path);
                    hub.step("Count for " + path);
                }
                hub.post("/admin/gateway/routes", Map.of("name", "remote", "url", hub.url() + "/agents/scribe"));
                hub.post("/admin/gateway/routes/remote/pause", Map.of("reason", "<b>moves to another host</b>"));
            });
            open("settings?tab=deliveries");
            browser.see("section[aria-label='Routes'] .state", "paused");
            browser.see("section[aria-label='Routes'] .reason", "<b>moves to another host</b>");
            browser.see("section[aria-label='Tools'] a[href='/ui/tools']", "No tool to approve");
            readUntil("section[aria-label='Webhooks tried again'] li", "/busy");
            browser.see("section[aria-label='Webhooks tried again'] li", "next attempt");
            readUntil("section[aria-label='Webhooks given up'] li", "/one");
            readUntil("section[aria-label='Webhooks given up'] li", "/two");
            browser.see("section[aria-label='Webhooks given up'] .reason", "410");
            browser.picture("settings-deliveries");
            status.set(200);
            browser.click("section[aria-label='Webhooks given up'] li:first-child button", "Redeliver");
            browser.holds("document.querySelectorAll('section[aria-label=\"Webhooks given up\"] li').length === 1");
            browser.click("section[aria-label='Webhooks given up'] button", "Redeliver all");
            browser.see("section[aria-label='Webhooks given up'] p", "None");
            browser.forget("status of 404");
            browser.assertQuiet("deliveries");
        } finally {
            receiver.stop(0);
        }
    }

    /** Attempts are not changes of the stream: the button reads them. */
    private void readUntil(String selector, String text) {
        browser.holds("([...document.querySelectorAll(`" + selector + "`)].some(row => row.innerText.includes('" + text
                + "')) || ([...document.querySelectorAll('.card button')].find(button => button.textContent === 'Read"
                + " again')?.click(), false))");
        browser.see(selector, text);
    }

    @Test
    @DisplayName("S11: a member learns which scope is needed, without a denied call")
    void aMember() {
        String[] key = new String[1];
        hub.as(admin, () -> key[0] = hub.key("team", "ann"));
        browser.go("settings");
        browser.signIn(key[0]);
        browser.see(".empty", "For operators");
        browser.see(".empty code", "admin");
        browser.gone("nav a, .side a", "Settings");
        browser.picture("settings-member");
        hub.as(
                admin,
                () -> assertThat(hub.call("GET", "/admin/audit?actor=ann", null).toString())
                        .doesNotContainIgnoringCase("denied"));
        browser.assertQuiet("a member");
    }
}
