package dev.parley.protocol.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class PiecesTest {
    @Test
    void bytesAreThoseWrittenWhateverTheirSizes() {
        var random = new Random(1);
        var pieces = new Pieces(16);
        var expected = new ByteArrayOutputStream();
        while (expected.size() < 5 << 20) {
            var bytes = new byte[random.nextInt(200_000)];
            random.nextBytes(bytes);
            pieces.write(bytes);
            pieces.write(bytes.length);
            expected.writeBytes(bytes);
            expected.write(bytes.length);
        }

        assertThat(pieces.size()).isEqualTo(expected.size());
        assertThat(pieces.bytes()).isEqualTo(expected.toByteArray());
    }

    @Test
    void nothingWrittenIsNoBytes() {
        assertThat(new Pieces(16).bytes()).isEmpty();
        assertThat(new Pieces(0).bytes()).isEmpty();
    }

    @Test
    void oneWriteTakesNoMoreThanItsBytes() {
        var pieces = new Pieces(0);
        pieces.write(new byte[] {1, 2, 3});

        assertThat(pieces.bytes()).containsExactly(1, 2, 3).isSameAs(pieces.bytes());
    }

    @Test
    void aFirstPieceIsFollowedByOthers() {
        var pieces = new Pieces(0);
        pieces.write(new byte[] {1, 2, 3});
        pieces.write(new byte[] {4, 5});
        pieces.write(6);

        assertThat(pieces.bytes()).containsExactly(1, 2, 3, 4, 5, 6);
    }
}
