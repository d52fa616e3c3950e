package dev.parley.registry.embeddings;

import dev.langchain4j.model.embedding.onnx.allminilml6v2q.AllMiniLmL6V2QuantizedEmbeddingModel;
import dev.parley.registry.Embedder;

/** The quantized model all-MiniLM-L6-v2, with 384 dimensions. English texts of up to 256 words; loaded at the first use. */
public final class MiniLm implements Embedder {
    private static final int MAX_TEXT = 2_000;

    private static final class Loaded {
        /** Computes on the calling thread: the registry has threads of its own for it. */
        private static final AllMiniLmL6V2QuantizedEmbeddingModel MODEL =
                new AllMiniLmL6V2QuantizedEmbeddingModel(Runnable::run);

        private Loaded() {}
    }

    @Override
    public String model() {
        return "all-minilm-l6-v2-q";
    }

    @Override
    public float[] embed(String text) {
        String shortened = text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) : text;
        return Loaded.MODEL
                .embed(shortened.isBlank() ? "." : shortened)
                .content()
                .vector();
    }
}
