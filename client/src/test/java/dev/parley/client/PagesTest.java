package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.Pages.Page;
import dev.parley.protocol.A2AException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

class PagesTest {
    private final List<String> read = new ArrayList<>();

    @Test
    void aPageIsReadWhenItIsNeeded() {
        Pages<String> pages = pages(Map.of(
                "", new Page<>(List.of("a", "b"), "2"),
                "2", new Page<>(List.of(), "3"),
                "3", new Page<>(List.of("c"), "")));

        assertThat(pages.next()).isEqualTo("a");
        assertThat(pages.next()).isEqualTo("b");
        assertThat(read).containsExactly("");
        assertThat(pages.next()).isEqualTo("c");
        assertThat(pages.hasNext()).isFalse();
        assertThat(read).containsExactly("", "2", "3");
        assertThatThrownBy(pages::next).isInstanceOf(NoSuchElementException.class);
    }

    @Test
    void aServerThatNeverTurnsThePageIsNotAskedForEver() {
        Pages<String> pages = pages(Map.of(
                "", new Page<>(List.of(), "2"),
                "2", new Page<>(List.of(), "2")));

        assertThatThrownBy(pages::hasNext).isInstanceOf(A2AException.class);
    }

    private Pages<String> pages(Map<String, Page<String>> pages) {
        return new Pages<>("", token -> {
            read.add(token);
            return pages.getOrDefault(token, new Page<>(List.of(), ""));
        });
    }
}
