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

/** The page that draws the knowledge graph, in a real Chromium. When it is skipped is as with {@link InteropTest}. */
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
        awaitText("#statements td", "ex:temperature");
        assertThat(texts("#picture .entity text")).contains("ex:kettle");
        assertThat(texts("#picture .edge > text")).contains("ex:temperature · 0.95");
        assertThat(texts("#statements tr:first-child td")).contains("0.95", "sensor", "read from the machine");

        // Nobody touches the page: what is said elsewhere comes by itself, and takes the place of what was there.
        sensor.send("kettle 99");
        awaitText("#picture .fresh title", "certainty 0.95");
        awaitText("#picture .value text", "99");

        assertThat(texts("#picture .value text")).doesNotContain("20");
        assertThat(problems()).isEmpty();
    }

    @Test
    void whatIsChosenIsShownAloneAndRememberedInTheAddress() {
        add("ex:a", "ex:knows", Term.Resource.of("ex:b"));
        add("ex:c", "ex:knows", Term.Resource.of("ex:d"));
        open("agent=sensor&entity=ex%3Aa");

        awaitText("#title", "ex:a");
        awaitText("#picture .chosen text", "ex:a");
        assertThat(texts("#statements td:first-child")).containsOnly("ex:a");
        assertThat(texts("#picture .entity text")).contains("ex:b").doesNotContain("ex:c", "ex:d");
        browser.findElements(By.cssSelector("#picture .entity")).stream()
                .filter(node -> node.getText().contains("ex:b"))
                .findFirst()
                .orElseThrow()
                .click();
        awaitText("#title", "ex:b");
        assertThat(browser.getCurrentUrl()).contains("entity=ex%3Ab");
    }

    @Test
    void whatOthersHaveSaidIsTextAndNothingElse() {
        String hostile = "<img src=x onerror='document.title=1'>\u202Egpj.exe";
        add("ex:hostile", "ex:says", Term.Literal.of(hostile));
        open("agent=sensor&subject=ex%3Ahostile");

        awaitText("#statements td", "<img src=x onerror='document.title=1'>‹U+202E›gpj.exe");

        assertThat(browser.findElements(By.cssSelector("img"))).isEmpty();
        assertThat(browser.getTitle()).isEqualTo("Knowledge graph – Parley");
        assertThat(problems()).isEmpty();
    }

    @Test
    void whatIsRefusedIsSaid() {
        open("agent=sensor&certainty=7");

        awaitText("#state.failed", "400");
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
