package dev.parley.interop.console;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Measures the console of a running hub without authentication at a browser, and prints milliseconds: times from a click or a letter until the
 * rows are painted, then pauses of an open list while another program causes changes. No test: {@code docs/console.md} has the figures.
 */
final class ConsoleSpeed {
    private static final int ROUNDS = 30;

    /** Leaves in {@code arguments[2]} the time from a click on a link until an element is there and painted. */
    private static final String CLICKED = """
            const [link, ready, done] = arguments;
            const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
            (async () => {
              const from = performance.now();
              [...document.querySelectorAll('nav a')].find(each => each.textContent.trim().startsWith(link)).click();
              while (!document.querySelector(ready)) await frame();
              await frame();
              done(performance.now() - from);
            })();""";

    /** Leaves the time from a change of the search until another set of rows is painted. */
    private static final String TYPED = """
            const [text, done] = arguments;
            const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
            (async () => {
              const field = document.querySelector('main input[type=search]');
              const rows = () => document.querySelector('main .tr:not(.th) mark')?.textContent.toLowerCase();
              const from = performance.now();
              field.value = text;
              field.dispatchEvent(new Event('input', { bubbles: true }));
              while (rows() !== text) await frame();
              await frame();
              done(performance.now() - from);
            })();""";

    /** Leaves the times between frames, and long tasks, of ten seconds. */
    private static final String WATCHED = """
            const done = arguments[0], gaps = [], long = [];
            new PerformanceObserver(list => list.getEntries().forEach(each => long.push(each.duration))).observe({ type: 'longtask' });
            const from = performance.now();
            let last = from;
            const next = now => {
              gaps.push(now - last);
              last = now;
              if (now - from < 10_000) requestAnimationFrame(next);
              else done({ gaps, long, rate: document.querySelector('.live')?.textContent.trim() });
            };
            requestAnimationFrame(next);""";

    private ConsoleSpeed() {}

    /** @param arguments address of the hub; then {@code lists}, or {@code changes} while changes are made */
    public static void main(String... arguments) {
        try (Browser browser = Browser.at(arguments[0])) {
            browser.go("tasks");
            browser.see(".body .tr", "");
            if (arguments[1].equals("lists")) {
                lists(browser);
            } else {
                changes(browser);
            }
        }
    }

    private static void lists(Browser browser) {
        var tasks = new ArrayList<Double>();
        var agents = new ArrayList<Double>();
        var registry = new ArrayList<Double>();
        var search = new ArrayList<Double>();
        for (int round = 0; round < ROUNDS; round++) {
            agents.add(clicked(browser, "Agents", "screen-agents .tr .agent a"));
            tasks.add(clicked(browser, "Tasks", "screen-tasks .body .tr"));
            registry.add(clicked(browser, "Registry", "screen-registry .tr .agent a"));
            for (String word : List.of("translates", "translate")) {
                search.add(number(browser.runAsync(TYPED, word)));
            }
        }
        print("agents, from the click to the painted rows", agents);
        print("tasks, from the click to the painted rows", tasks);
        print("registry, from the click to the painted rows", registry);
        print("registry, from the letter to the painted rows", search);
    }

    private static double clicked(Browser browser, String link, String ready) {
        return number(browser.runAsync(CLICKED, link, ready));
    }

    private static void changes(Browser browser) {
        var seen = (Map<?, ?>) requireNonNull(browser.runAsync(WATCHED));
        System.out.println("shown: " + seen.get("rate"));
        print("time between frames", numbers(seen.get("gaps")));
        print("tasks of more than 50 ms", numbers(seen.get("long")));
    }

    private static List<Double> numbers(@Nullable Object list) {
        return new ArrayList<>(((List<?>) requireNonNull(list))
                .stream().map(ConsoleSpeed::number).toList());
    }

    private static double number(@Nullable Object value) {
        return ((Number) requireNonNull(value)).doubleValue();
    }

    private static void print(String what, List<Double> times) {
        if (times.isEmpty()) {
            System.out.println(what + ": none");
            return;
        }
        Collections.sort(times);
        System.out.printf(
                "%s: %d, median %.0f ms, p95 %.0f ms, longest %.0f ms, sum %.0f ms%n",
                what,
                times.size(),
                times.get(times.size() / 2),
                times.get(times.size() * 95 / 100),
                times.getLast(),
                times.stream().mapToDouble(Double::doubleValue).sum());
    }
}
