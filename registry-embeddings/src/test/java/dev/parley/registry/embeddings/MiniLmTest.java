package dev.parley.registry.embeddings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.parley.registry.Embedder;
import java.util.ServiceLoader;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class MiniLmTest {
    private final Embedder model =
            ServiceLoader.load(Embedder.class).findFirst().orElseThrow();

    private double similarity(String one, String other) {
        float[] first = model.embed(one);
        float[] second = model.embed(other);
        double sum = 0;
        for (int i = 0; i < first.length; i++) {
            sum += first[i] * second[i];
        }
        return sum;
    }

    @Test
    @DisplayName("texts with the same meaning are nearer than others, without common words")
    void meaning() {
        String need = "our cluster keeps killing containers";

        assertThat(similarity(need, "Diagnoses crashing pods in Kubernetes"))
                .isGreaterThan(similarity(need, "Recipes for what is in the fridge"));
        assertThat(similarity(need, need)).isCloseTo(1, within(0.01));
        assertThat(model.embed("").length).isEqualTo(384);
        assertThat(model.embed("word ".repeat(5_000)).length).isEqualTo(384);
    }
}
