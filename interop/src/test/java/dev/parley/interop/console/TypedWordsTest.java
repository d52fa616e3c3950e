package dev.parley.interop.console;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Fields of words that are in the address, typed faster than the screen follows. */
@Timeout(120)
class TypedWordsTest {
    /** Types words and, before the screen can follow, one more letter; answers with the value of the field when the screen has followed. */
    private static final String TYPED_ON = """
        const [selector, event, letter, done] = arguments;
        const field = document.querySelector(selector);
        const type = value => {
          field.value = value;
          field.dispatchEvent(new Event('input', {bubbles: true}));
        };
        type('two');
        if (event === 'change') field.dispatchEvent(new Event('change', {bubbles: true}));
        type('two' + letter);
        const app = document.querySelector('parley-app');
        const followed = () => app.route.query.get(new URLSearchParams(location.search).has('caller') ? 'caller' : 'q') === 'two';
        const look = async () => {
          if (!followed()) return setTimeout(look, 5);
          await app.updateComplete;
          await document.querySelector('main > :last-child').updateComplete;
          setTimeout(() => done(field.value), 50);
        };
        look();
        """;

    @ParameterizedTest
    @CsvSource({
        "learn, input[type=search], input, ' '",
        "learn/api, input[type=search], input, ' '",
        "agents, input[type=search], input, ' '",
        "tasks, input[type=search], change, m",
        "tasks, input[aria-label=Caller], change, m"
    })
    @DisplayName(
            "S14: a screen that follows the address late leaves what is typed meanwhile, and an address without words empties the field")
    void whatIsTypedMeanwhileStays(String screen, String field, String event, String letter) {
        try (var hub = new ConsoleHub();
                Browser browser = Browser.at(hub.url())) {
            browser.go(screen);
            browser.see(field, "");

            assertThat(browser.runAsync(TYPED_ON, field, event, letter)).isEqualTo("two" + letter);
            browser.run("history.replaceState(null, '', location.pathname); dispatchEvent(new Event('popstate'))");
            browser.holds("document.querySelector('%s').value === ''".formatted(field));
            browser.assertQuiet(screen);
        }
    }
}
