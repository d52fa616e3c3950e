package dev.parley.interop.console;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import java.io.BufferedReader;
import java.io.File;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The documentation in the console: pages, search, examples that run, and the API. */
@Timeout(120)
class LearnScreenTest {
    private static final Path DOCUMENTS = Path.of("../docs");
    private static final Pattern SOURCE = Pattern.compile("(?s)`(\\w+\\.java)`:\\n\\n```java\\n(.*?)```");

    /** Links of each page in the console that lead to no page, or to no heading of it. */
    private static final String BROKEN = """
        const done = arguments[arguments.length - 1];
        (async () => {
          const app = document.querySelector('script[type=module]').src;
          const docs = await import(new URL('docs.js', app));
          const { slugs } = await import(new URL('sections.js', app));
          const {blocks, prose} = await import(new URL('components/markdown.js', app));
          const texts = await docs.pages();
          const ids = {};
          for (const [page, text] of Object.entries(texts)) {
            const slug = slugs();
            ids[page] = new Set(blocks(text).filter(each => each.type === 'heading').map(each => slug(each.text)));
          }
          const broken = [];
          let count = 0;
          for (const [page, text] of Object.entries(texts)) {
            for (const [, file] of text.matchAll(/\\]\\(([\\w-]+)\\.md[#)]/g)) if (!texts[file]) broken.push(`${page}: ${file}.md`);
            for (const anchor of prose(blocks(text), docs.resolver(page, texts)).querySelectorAll('a')) {
              const url = new URL(anchor.href, location.href);
              const name = url.pathname.match(/\\/ui\\/learn(?:\\/(.*))?$/);
              if (url.origin !== location.origin || !name) continue;
              count++;
              const target = name[1] ?? 'README';
              if (!ids[target] || (url.hash && !ids[target].has(decodeURIComponent(url.hash.slice(1))))) broken.push(`${page}: ${anchor.href}`);
            }
          }
          done([count, ...broken]);
        })().catch(failure => done([0, String(failure)]));
        """;

    @Test
    @DisplayName(
            "S14: the documents are in the console, searchable within 50 ms, and each link leads to a page and heading")
    void documentsAreReadAndSearched() {
        try (var hub = new ConsoleHub();
                Browser browser = Browser.at(hub.url())) {
            browser.go("learn");
            browser.see(".side a.on", "Learn");
            browser.click(".md a", "Getting started");
            browser.see("h1", "Getting started");
            browser.see(".toc a", "Demo agents");
            browser.click(".toc a", "Demo agents");
            browser.holds(
                    "scrollY > 100 && document.querySelector('#demo-agents').getBoundingClientRect().top < innerHeight");
            assertThat(browser.address()).endsWith("/ui/learn/getting-started#demo-agents");
            browser.see(".code", hub.url() + "/agents/echo");
            browser.go("learn/console#signing-in");
            browser.holds("scrollY > 300 && document.querySelector('#signing-in').getBoundingClientRect().top < 200");
            browser.holds("document.querySelector('img').naturalWidth > 100");

            browser.go("learn");
            browser.type("input[type=search]", "redeliver webhooks");
            browser.see(".learn-found mark", "webhooks");
            assertThat(browser.address()).contains("q=redeliver");
            browser.click(".learn-found a", "");
            browser.see(".crumbs", "Learn");
            browser.go("learn?q=zzzz");
            browser.see(".empty h2", "No section");
            double ms = ((Number) requireNonNull(browser.runAsync("""
                const done = arguments[arguments.length - 1];
                import(new URL('docs.js', document.querySelector('script[type=module]').src)).then(async docs => {
                  await docs.find('first');
                  const begun = performance.now();
                  for (const words of ['agent', 'webhook retry', 'database', 'a', 'hub key']) await docs.find(words);
                  done((performance.now() - begun) / 5);
                });
                """))).doubleValue();
            assertThat(ms).as("ms for a search").isLessThan(50);

            browser.hold("\uE009", "k");
            browser.type(".palette input", "oauth");
            browser.see(".palette [role=option]", "Learn");

            List<?> links = (List<?>) requireNonNull(browser.runAsync(BROKEN));
            assertThat(((Number) links.getFirst()).intValue()).as("%s", links).isGreaterThan(100);
            assertThat(links.subList(1, links.size())).isEmpty();
            browser.assertQuiet("the documents");
        }
    }

    @Test
    @DisplayName(
            "S14: the first agent of the tutorial is written, run, called by the page and watched, at the reader's hub")
    void theTutorialIsWalkedThrough(@TempDir Path directory) throws Exception {
        Matcher source = SOURCE.matcher(Files.readString(DOCUMENTS.resolve("first-agent.md")));
        assertThat(source.find()).isTrue();
        Path file = directory.resolve(source.group(1));
        Files.writeString(file, source.group(2));
        int port;
        try (var free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Process agent = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        classPath(),
                        file.toString(),
                        String.valueOf(port))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        try (BufferedReader output = agent.inputReader(StandardCharsets.UTF_8)) {
            String url = "http://127.0.0.1:" + port;
            String line = output.readLine();
            while (line != null && !line.equals(url)) {
                line = output.readLine();
            }
            assertThat(line).isEqualTo(url);
            try (Browser browser = Browser.at(url)) {
                browser.go("learn/first-agent");
                browser.see("h1", "First agent in ten minutes");
                browser.see(".code pre", "parley send -a " + url + "/agents/launch \"Ariane\"");
                assertThat(browser.texts(".code .copy")).hasSameSizeAs(browser.texts(".code pre"));
                assertThat(browser.texts("parley-run [role=status]")).isEmpty();
                browser.click("parley-run button", "Run");
                browser.see("parley-run .state", "working");
                browser.see("parley-run .state", "completed");
                browser.see("parley-run parley-parts", "Ariane has lifted off");
                browser.picture("learn-run");
                browser.click("parley-run [role=status] a", "Watch the task");
                browser.see("h1 .state", "completed");
                browser.see(".time .step", "1 s left");
                browser.go("learn/first-agent");
                browser.click("parley-run a", "Open in a chat");
                browser.see("parley-compose", "");
                browser.holds("document.querySelector('parley-compose textarea')?.value === 'Ariane'");
                browser.assertQuiet("the tutorial");
            }
        } finally {
            agent.destroy();
            assertThat(agent.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** That of this process, whose directories may be relative. */
    private static String classPath() {
        return String.join(
                File.pathSeparator,
                Pattern.compile(File.pathSeparator)
                        .splitAsStream(System.getProperty("java.class.path"))
                        .map(each -> Path.of(each).toAbsolutePath().toString())
                        .toList());
    }

    @Test
    @DisplayName(
            "S14: an operation of the API is found, tried with the credential of the session, and asks before it removes")
    void operationsAreTried() {
        try (var hub = new ConsoleHub(Hub.builder().inMemory().port(0).set("auth", "required"));
                Browser browser = Browser.at(hub.url())) {
            browser.go("learn/api");
            browser.see("h1", "API");
            browser.see(".operation", "GET");
            browser.go("learn/first-agent");
            browser.see("article p", "Sign in to run this example here.");
            assertThat(browser.texts("parley-run")).isEmpty();
            browser.go("learn/api");
            browser.click("button", "Sign in");
            browser.signIn(hub.hub.bootstrapKey().orElseThrow());
            browser.type("input[type=search]", "message:send");
            browser.click(".operation", "/agents/{agent}/message:send");
            browser.choose("select[name=agent]", "booking");
            browser.see("parley-operation .code", "curl -s");
            browser.holds(
                    "document.querySelector('parley-operation pre').textContent.includes('X-Api-Key: $PARLEY_KEY')");
            browser.click("parley-operation button", "Try it");
            browser.see("section[aria-label=Answer] .state.ok", "200");
            browser.see("section[aria-label=Answer] pre", "Window or aisle?");
            browser.picture("learn-try");

            browser.go("learn/api?q=one/definitions&op=one%2Fdefinitions%2Fdelete");
            browser.type("input[name=definition]", "none");
            browser.click("parley-operation button", "Try it");
            browser.see("dialog", "DELETE");
            assertThat(browser.texts("section[aria-label=Answer]")).isEmpty();
            browser.click("dialog button.bad", "Send");
            browser.see("section[aria-label=Answer] .state.bad", "404");
            browser.forget("status of 404");

            browser.go("learn/api?tab=extensions&q=registry");
            browser.click("summary", "Document");
            browser.see("parley-markdown", "registry/register");
            browser.assertQuiet("the API");
        }
    }
}
