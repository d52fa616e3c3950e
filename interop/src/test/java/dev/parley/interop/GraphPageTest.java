package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.protocol.CallContext;
import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;

/** The former page of the knowledge graph leads to its screen in the console, in a real Chromium. When it is skipped is as with {@link InteropTest}. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GraphPageTest {
    private static final File BROWSER = new File("/usr/bin/chromium");
    private static final File DRIVER = new File("/usr/bin/chromedriver");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Resolves when an element that fits has a text that contains the other; the browser itself watches for it. */
    private static final String AWAIT = """
            const [selector, text, done] = arguments;
            const look = () => {
              const found = [...document.querySelectorAll(selector)].some(one => one.textContent.includes(text));
              if (found) {
                watcher.disconnect();
                done();
              }
            };
            const watcher = new MutationObserver(look);
            watcher.observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
            look();
            """;

    private Hub hub;
    private AgentClient sensor;
    private ChromeDriver browser;

    @BeforeAll
    void start() {
        if (!BROWSER.canExecute() || !DRIVER.canExecute()) {
            Requirement.missing("Chromium and its driver are not installed");
        }
        hub = Hub.builder()
                .port(0)
                .inMemory()
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .start();
        sensor = AgentClient.connect(hub.agentUrl("sensor"));
        var options = new ChromeOptions();
        options.setBinary(BROWSER);
        options.addArguments("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,900");
        options.setCapability("goog:loggingPrefs", Map.of(LogType.BROWSER, Level.ALL.getName()));
        browser = new ChromeDriver(
                new ChromeDriverService.Builder().usingDriverExecutable(DRIVER).build(), options);
        browser.manage().timeouts().scriptTimeout(PATIENCE);
    }

    @AfterAll
    void stop() {
        if (browser != null) {
            browser.quit();
            sensor.close();
            hub.close();
        }
    }

    @BeforeEach
    void leave() {
        browser.get("about:blank");
    }

    @Test
    void theRootLeadsABrowserToTheConsole() {
        browser.get(hub.url());

        assertThat(browser.getCurrentUrl()).startsWith(hub.url() + "/ui/");
        assertThat(problems()).isEmpty();
    }

    @Test
    void kg30EntitiesLiveChangesCertaintyAndProvenanceAreDrawn() {
        sensor.send("kettle 20");
        open("agent=sensor&subject=ex%3Akettle");
        awaitText(".net .dot text", "20");
        assertThat(browser.getCurrentUrl()).startsWith(hub.url() + "/ui/kg?").contains("entity=ex%3Akettle");
        assertThat(texts(".net .dot text")).contains("ex:kettle");
        assertThat(texts(".net .tie text")).contains("ex:temperature 0.95");
        assertThat(texts(".kg-said summary")).anyMatch(text -> text.contains("0.95 · sensor · "));
        awaitText(".live.ok", "follows changes");

        // Changes come without an action of the reader; a replaced value goes.
        sensor.send("kettle 99");
        awaitText(".net .tie.fresh title", "certainty 0.95, from sensor");
        awaitText(".net .dot text", "99");

        assertThat(texts(".net .dot text")).doesNotContain("20");
        assertThat(problems()).isEmpty();
    }

    @Test
    void parametersOfTheFormerPageAreKept() {
        add("ex:a", "ex:knows", Term.Resource.of("ex:b"));
        add("ex:c", "ex:knows", Term.Resource.of("ex:d"));
        open("agent=sensor&entity=ex%3Aa&certainty=0.5");

        awaitText(".kg-bar [role=status]", "1 statement hidden"); // its certainty is unknown
        assertThat(browser.getCurrentUrl())
                .contains("certainty=0.5", "agent=sensor")
                .doesNotContain("#");
        assertThat(texts(".net .dot text")).containsExactly("ex:a");
    }

    private void open(String fragment) {
        browser.get(hub.url() + "/ui/graph#" + fragment);
    }

    private void awaitText(String selector, String text) {
        browser.executeAsyncScript(AWAIT, selector, text);
    }

    private List<String> texts(String selector) {
        return browser.findElements(By.cssSelector(selector)).stream()
                .map(WebElement::getText)
                .toList();
    }

    private List<String> problems() {
        return browser.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.SEVERE.intValue())
                .map(Object::toString)
                .toList();
    }

    private void add(String subject, String predicate, Term object) {
        KnowledgeExtension.endpoint(sensor, sensor.card())
                .update(Update.of(Patch.add(Statement.of(subject, predicate, object))), CallContext.anonymous());
    }
}
