package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.output.TextPage;
import org.junit.jupiter.api.Test;

class TextPageTest {
    private static final String TAGGED = "a" + Character.toString(0xe0001) + Character.toString(0xe0061);

    @Test
    void whatNobodySeesIsEscapedInFields() {
        String page = new TextPage()
                .field("Name", "a\u200bb\u202ec\u00add\ufeff\u2028\u001b" + TAGGED)
                .toString();

        assertThat(page)
                .isEqualTo("Name: a\\u200bb\\u202ec\\u00add\\ufeff\\u2028\\u001ba\\udb40\\udc01\\udb40\\udc61\n");
    }

    @Test
    void whatNobodySeesIsLeftOutOfBlocks() {
        String family = "\ud83d\udc69\u200d\ud83d\udc67";
        String page = new TextPage()
                .block(
                        "Text",
                        "a\u200bb\tc\u202e\u001b" + TAGGED + "\n" + family
                                + " \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
                .toString();

        assertThat(page)
                .isEqualTo("Text:\n  ab\tca\n  " + family + " \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645\n\n");
    }
}
