package dev.parley.outbound.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedactionTest {
    private final Redaction redaction =
            new Redaction(List.of("X-Tenant-Pin"), List.of("s3cr3t", "s3cr3t-longer", "abc"));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Authorization",
                "proxy-authorization",
                "Cookie",
                "Set-Cookie",
                "X-API-Key",
                "apikey",
                "X-A2A-Notification-Token",
                "Client-Secret",
                "x-tenant-pin",
            })
    void aHeaderThatCarriesCredentialsIsBlackedOut(String name) {
        assertThat(redaction.headers(Map.of(name, List.of("value", "other")))).containsEntry(name, List.of("***"));
    }

    @Test
    void otherHeadersAreShown() {
        assertThat(redaction.headers(Map.of("Content-Type", List.of("text/plain"), "X-Echo", List.of("is s3cr3t"))))
                .containsEntry("Content-Type", List.of("text/plain"))
                .containsEntry("X-Echo", List.of("is ***"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"token\":\"tik\",\"id\":\"1\"}|{\"token\":\"***\",\"id\":\"1\"}",
                "{\"credentials\" : \"a\\\"b\\\\\",\"x\":\"y\"}|{\"credentials\" : \"***\",\"x\":\"y\"}",
                "{\"access_token\":\"a\"}{\"clientSecret\":\"b\"}|{\"access_token\":\"***\"}{\"clientSecret\":\"***\"}",
                "{\"token\":\"cut off|{\"token\":\"***",
                "{\"token\":\"cut off\\|{\"token\":\"***",
                "{\"pageToken\":\"p\",\"nextPageToken\":\"q\"}|{\"pageToken\":\"p\",\"nextPageToken\":\"q\"}",
                "{\"tokenUrl\":\"https://a\"}|{\"tokenUrl\":\"https://a\"}",
                "{\"text\":\"my s3cr3t-longer\"}|{\"text\":\"my ***\"}",
                "{\"text\":\"abc\"}|{\"text\":\"abc\"}",
            })
    void aBodyShowsEverythingButCredentials(String body, String shown) {
        assertThat(redaction.body(body)).isEqualTo(shown);
    }

    @Test
    void anEndlessCredentialIsNoProblem() {
        assertThat(redaction.body("{\"token\":\"" + "\\\"x".repeat(1_000_000) + "\"}"))
                .isEqualTo("{\"token\":\"***\"}");
    }

    @ParameterizedTest
    @CsvSource({
        "https://a/b?x=1&api_key=k&y=2, https://a/b?x=1&api_key=***&y=2",
        "https://a/b?token=k, https://a/b?token=***",
        "https://a/b?X-Amz-Signature=k#f, https://a/b?X-Amz-Signature=***#f",
        "https://a/b?pageToken=k, https://a/b?pageToken=k",
        "https://a/s3cr3t/b, https://a/***/b",
    })
    void aUrlShowsEverythingButCredentials(String url, String shown) {
        assertThat(redaction.url(url)).isEqualTo(shown);
    }
}
