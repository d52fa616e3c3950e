package dev.parley.registry.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Words of random texts. */
final class SearchFuzzTest {
    private static final String ALPHABET =
            "abcXYZ019 \t\n\"'*:^-+(){}[]&|!<>\\~_%.,;=?@#$\u0000\uD83D\uDE00\uD800\uDC00\u0301\u200Dß中文のกำ한글абвأبé\uFDD0İ";

    @Test
    @DisplayName("any text becomes words of letters, digits and underscores, which no database takes for operators")
    void words() {
        var random = new Random(50);
        for (int round = 0; round < 20_000; round++) {
            var text = new StringBuilder();
            for (int i = random.nextInt(60); i > 0; i--) {
                text.append(
                        random.nextInt(20) == 0
                                ? (char) random.nextInt(0x10000)
                                : ALPHABET.charAt(random.nextInt(ALPHABET.length())));
            }
            String query = text.toString();
            List<String> stems = Words.of(query);
            assertThat(stems).as(query).allMatch(word -> word.matches("[a-z0-9]+|_[0-9a-f]+"));
            for (String word : Words.ofQuery(query)) {
                assertThat(Words.indexed(word)).as(query).matches("[a-z0-9]+|_[0-9a-f]+");
                assertThat(Words.ascii(word)).as(query).matches("[a-z0-9]+|_[0-9a-f]+");
            }
        }
    }
}
