package dev.parley.protocol.support;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Base64;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class Base64TextTest {
    @ParameterizedTest
    @DisplayName("K5: base64 text in the field of bytes is the file")
    @ValueSource(strings = {"image/png", "application/octet-stream", "application/pdf", ""})
    void base64TextIsDecoded(String mediaType) {
        byte[] file = {0, 1, 2, 3, (byte) 0xff, (byte) 0x89, 'P'};

        assertThat(Base64Text.decoded(Base64Text.encoded(file), mediaType.isEmpty() ? null : mediaType))
                .isEqualTo(file);
        assertThat(Base64Text.decoded(Base64.getEncoder().encode("grün\n".getBytes(UTF_8)), "text/plain"))
                .isEqualTo("grün\n".getBytes(UTF_8));
    }

    @ParameterizedTest
    @DisplayName("bytes that are no base64, or text that could be both, stay")
    @CsvSource(
            delimiter = '|',
            value = {
                "abcd | text/plain",
                "test | application/json",
                "12345678 | text/csv",
                "AAE | image/png",
                "AAECAw= | image/png",
                "AAECAx== | image/png",
                "AAEC Aw= | image/png",
                "AA=C | image/png",
                "<svg> | image/svg+xml",
                "%PDF-1.7 | application/pdf"
            })
    void otherBytesStay(String bytes, String mediaType) {
        assertThat(Base64Text.decoded(bytes.getBytes(UTF_8), mediaType)).isEqualTo(bytes.getBytes(UTF_8));
    }
}
