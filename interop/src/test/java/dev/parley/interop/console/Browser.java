package dev.parley.interop.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.interop.Requirement;
import dev.parley.testkit.Eventually;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.ScriptTimeoutException;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogType;

/** Chromium at the console of a hub. It records what the page and the security policy complain of, and each request. */
final class Browser implements AutoCloseable {
    /** Screenshots; build output. */
    static final Path PICTURES = Path.of("target", "screens");

    private static final File PROGRAM = new File("/usr/bin/chromium");
    private static final File DRIVER = new File("/usr/bin/chromedriver");

    /** Longer than the 15 s after which an idle stream ends whose credential is no longer good. */
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    /** Runs in each document before its own scripts. */
    private static final String RECORD = """
        window.complaints = [];
        addEventListener('securitypolicyviolation', event => complaints.push(
          `policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample} at ${event.sourceFile}:${event.lineNumber}`));
        addEventListener('error', event => event.message && complaints.push(`error: ${event.message}`));
        addEventListener('unhandledrejection', event => complaints.push(`rejection: ${event.reason?.stack ?? event.reason}`));
        """;

    /**
     * Looks at each frame for an element that a reader sees: rendered, not transparent, of some size. A mutation observer would
     * miss changes of styles.
     */
    private static final String SEE = """
        const [selector, text, done] = arguments;
        const isSeen = element => element.checkVisibility({opacityProperty: true, visibilityProperty: true})
          && element.getBoundingClientRect().width > 1 && element.getBoundingClientRect().height > 1
          && (element.innerText ?? element.textContent).includes(text);
        const look = () => {
          const seen = [...document.querySelectorAll(selector)].find(isSeen);
          if (seen) done(seen);
          else requestAnimationFrame(look);
        };
        look();
        """;

    private static final String GONE = """
        const [selector, text, done] = arguments;
        const isSeen = element => element.checkVisibility() && (element.innerText ?? element.textContent).includes(text);
        const look = () => {
          if ([...document.querySelectorAll(selector)].some(isSeen)) requestAnimationFrame(look);
          else done();
        };
        look();
        """;

    private static final String SEEN = """
        return [...document.querySelectorAll(arguments[0])].filter(element => element.checkVisibility())
          .map(element => element.innerText ?? element.textContent);
        """;

    /** Custom properties are set by the object model; anything else in a style attribute is inline style. */
    private static final String INLINE = """
        return [...document.querySelectorAll('body [style]')]
          .filter(element => [...element.style].some(name => !name.startsWith('--')))
          .concat(...document.querySelectorAll('style, [onclick], [onload], [onerror]'))
          .map(element => `inline: ${element.outerHTML.slice(0, 200)}`);
        """;

    private final String hub;
    private final ChromeDriver driver;
    private final List<String> complaints = new ArrayList<>();

    private Browser(String hub, ChromeDriver driver) {
        this.hub = hub;
        this.driver = driver;
    }

    /** Opens a window; skips the test where there is no browser, as {@link Requirement} tells. */
    static Browser at(String hub) {
        if (!PROGRAM.canExecute() || !DRIVER.canExecute()) {
            Requirement.missing("Chromium and its driver are not installed");
        }
        var options = new ChromeOptions();
        options.setBinary(PROGRAM);
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--force-color-profile=srgb");
        options.setCapability(
                "goog:loggingPrefs",
                Map.of(LogType.BROWSER, Level.ALL.getName(), LogType.PERFORMANCE, Level.ALL.getName()));
        var driver = new ChromeDriver(
                new ChromeDriverService.Builder().usingDriverExecutable(DRIVER).build(), options);
        driver.manage().timeouts().scriptTimeout(PATIENCE);
        var browser = new Browser(hub, driver);
        browser.begin();
        return browser;
    }

    private void begin() {
        driver.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", RECORD));
        size(1400, 900);
    }

    // ---- What a reader does

    /** Loads an address below {@code /ui/}, and waits for its heading. */
    void go(String path) {
        leave();
        driver.get(hub + "/ui/" + path);
        see("h1, h2", "");
    }

    /** Opens a link to an address of the hub, such as that of a mail, and waits for the heading of the page that it leads to. */
    void load(String path) {
        driver.get(hub + "/" + path);
        see("h1, h2", "");
    }

    /** The tab that is shown. */
    String tab() {
        return driver.getWindowHandle();
    }

    /** Opens an address below {@code /ui/} in a new tab, and returns the tab. The page before is hidden. */
    String openTab(String path) {
        return open(path, WindowType.TAB);
    }

    /** Opens an address below {@code /ui/} in a new window, beside those that are shown. */
    String openWindow(String path) {
        return open(path, WindowType.WINDOW);
    }

    private String open(String path, WindowType type) {
        driver.switchTo().newWindow(type);
        begin();
        go(path);
        return tab();
    }

    void turnTo(String tab) {
        driver.switchTo().window(tab);
        driver.executeCdpCommand("Page.bringToFront", Map.of());
    }

    /** Closes the tab that is shown, and turns to another one. */
    void closeTab(String next) {
        driver.close();
        turnTo(next);
    }

    /** Leaves the console, as a reader does who closes the tab. */
    void leave() {
        complaints.addAll(strings("return window.complaints ?? []"));
        driver.get("about:blank");
    }

    void click(String selector, String text) {
        for (int left = 5; ; left--) {
            try {
                WebElement element = see(selector, text);
                run("arguments[0].scrollIntoView({block: 'center'})", element);
                element.click();
                return;
            } catch (StaleElementReferenceException painted) { // anew, between the look and the click
                if (left == 0) {
                    throw painted;
                }
            }
        }
    }

    /** Both clicks by events: of a busy machine the driver's come too late to be one double click. */
    void doubleClick(String selector, String text) {
        run("""
            for (const type of ['click', 'click', 'dblclick']) arguments[0].dispatchEvent(new MouseEvent(type, {bubbles: true}));
            """, see(selector, text));
    }

    /** Moves a slider. */
    void slide(String selector, String value) {
        see(selector, "");
        run("""
            const [selector, value] = arguments;
            const slider = document.querySelector(selector);
            slider.value = value;
            slider.dispatchEvent(new Event('input', {bubbles: true}));
            """, selector, value);
    }

    /** Replaces the text of a field. */
    void type(String selector, String text) {
        WebElement field = see(selector, "");
        field.clear();
        field.sendKeys(text);
    }

    /** Chooses an option of a list by its text. */
    void choose(String selector, String option) {
        see(selector, option);
        run("""
            const [selector, text] = arguments;
            const list = document.querySelector(selector);
            list.value = [...list.options].find(each => each.text.includes(text)).value;
            list.dispatchEvent(new Event('change', {bubbles: true}));
            """, selector, option);
    }

    /** Presses keys wherever the focus is. */
    void press(CharSequence... keys) {
        new Actions(driver).sendKeys(keys).perform();
    }

    void hold(CharSequence key, String other) {
        new Actions(driver).keyDown(key).sendKeys(other).keyUp(key).perform();
    }

    /** Pastes a text where no field has the focus. */
    void paste(String text) {
        run("""
            const data = new DataTransfer();
            data.setData('text/plain', arguments[0]);
            document.body.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
            """, text);
    }

    /** Drops a file onto an element. */
    void drop(String selector, String name, String type, String contents) {
        run("""
            const [selector, name, type, contents] = arguments;
            const data = new DataTransfer();
            data.items.add(new File([contents], name, {type}));
            for (const kind of ['dragover', 'drop'])
              document.querySelector(selector).dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
            """, selector, name, type, contents);
    }

    void back() {
        driver.navigate().back();
    }

    void reload() {
        complaints.addAll(strings("return window.complaints ?? []"));
        driver.navigate().refresh();
        see("h1, h2", "");
    }

    // ---- What a reader sees

    /** Waits until an element with a text is visible, and returns it. */
    WebElement see(String selector, String text) {
        return (WebElement)
                requireNonNull(await(SEE, "visible " + selector + " with \"" + text + "\"", selector, text));
    }

    /** Waits until no such element is visible. */
    void gone(String selector, String text) {
        await(GONE, "no visible " + selector + " with \"" + text + "\"", selector, text);
    }

    /** Waits until an expression of the page is true. */
    void holds(String expression) {
        await("""
                const done = arguments[arguments.length - 1];
                const look = () => (%s) ? done() : requestAnimationFrame(look);
                look();
                """.formatted(expression), expression);
    }

    /**
     * Runs a script that waits. A script ends with its document, such as at the redirects of a sign-in, which the driver reports as a
     * timeout at once: until {@link #PATIENCE} is over, the script runs again in the next document.
     */
    private @Nullable Object await(String script, String expected, Object... arguments) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return driver.executeAsyncScript(script, arguments);
            } catch (ScriptTimeoutException ended) {
                if (System.nanoTime() - end >= 0) {
                    picture("failed-" + expected.replaceAll("[^A-Za-z0-9]+", "-"));
                    throw new AssertionError("expected: %s%nat %s%n%s"
                            .formatted(expected, address(), run("return document.body.innerText.slice(0, 3000)")));
                }
            }
        }
    }

    /** Texts of the visible elements. */
    List<String> texts(String selector) {
        return strings(SEEN, selector);
    }

    String value(String selector) {
        return String.valueOf(run("return document.querySelector(arguments[0]).value", selector));
    }

    String address() {
        return requireNonNull(driver.getCurrentUrl());
    }

    /** Waits until the address begins with a text, also that of another host. */
    void arrive(String address) {
        Eventually.value("an address of " + address, this::address, shown -> shown.startsWith(address));
    }

    String title() {
        return requireNonNull(driver.getTitle());
    }

    @Nullable
    Object run(String script, @Nullable Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    @Nullable
    Object runAsync(String script, @Nullable Object... arguments) {
        return driver.executeAsyncScript(script, arguments);
    }

    List<String> strings(String script, @Nullable Object... arguments) {
        return ((List<?>) requireNonNull(run(script, arguments)))
                .stream().map(String::valueOf).toList();
    }

    /** Whether the page is wider than the window. */
    int overflow() {
        return ((Number) requireNonNull(
                        run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")))
                .intValue();
    }

    // ---- The window

    void size(int width, int height) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    /** The color scheme of the system: light or dark. */
    void theme(String scheme) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(
                                Map.of("name", "prefers-color-scheme", "value", scheme),
                                Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
    }

    /** Takes a screenshot. */
    void picture(String name) {
        try {
            Files.createDirectories(PICTURES);
            Files.write(PICTURES.resolve(name + ".png"), driver.getScreenshotAs(OutputType.BYTES));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Keeps the texts of the files that the page saves from now on, as the list {@code saved} of the page. */
    void recordFiles() {
        run("""
                window.saved = [];
                const make = URL.createObjectURL;
                URL.createObjectURL = blob => (blob.text().then(text => saved.push(text)), make(blob));
                """);
    }

    /** Signs in by a key at the page that asks for one. */
    void signIn(String key) {
        see("h1", "Sign in");
        type("input[type=password]", key);
        press(Keys.ENTER);
    }

    void deleteCookies() {
        driver.executeCdpCommand("Network.clearBrowserCookies", Map.of());
    }

    // ---- What the browser complains of

    /** Asserts that since the last call nothing failed, broke the security policy, left the hub or brought styles of its own. */
    void assertQuiet(String where) {
        collect();
        List<String> seen = List.copyOf(complaints);
        complaints.clear();
        assertThat(seen).as(where).isEmpty();
    }

    private void collect() {
        complaints.addAll(strings("return (window.complaints ?? []).splice(0)"));
        complaints.addAll(strings(INLINE));
        driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.SEVERE.intValue())
                .forEach(entry -> complaints.add("console: " + entry.getMessage()));
        complaints.addAll(foreign());
    }

    /** Discards complaints that contain a text, for tests that provoke them. */
    void forget(String words) {
        collect();
        complaints.removeIf(each -> each.contains(words));
    }

    /** Discards all complaints of the browser. */
    void forget() {
        run("(window.complaints ?? []).splice(0)");
        complaints.clear();
        driver.manage().logs().get(LogType.BROWSER);
    }

    private List<String> foreign() {
        return driver.manage().logs().get(LogType.PERFORMANCE).getAll().stream()
                .map(entry -> Json.read(entry.getMessage().getBytes(UTF_8), Map.class))
                .map(entry -> (Map<?, ?>) requireNonNull(entry.get("message")))
                .filter(message -> "Network.requestWillBeSent".equals(message.get("method")))
                .map(message -> (Map<?, ?>) requireNonNull(message.get("params")))
                .map(params -> String.valueOf(((Map<?, ?>) requireNonNull(params.get("request"))).get("url")))
                .filter(url -> !url.startsWith(hub + "/") && !url.matches("(?s)(data|blob|about|chrome):.*"))
                .map(url -> "request: " + url)
                .toList();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
