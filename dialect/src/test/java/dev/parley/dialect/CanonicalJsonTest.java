package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.CanonicalJson;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of the security checks are in the names. Source of the examples: RFC 8785, section 3.2 and appendix B. */
class CanonicalJsonTest {

    @Test
    void theExampleOfTheSpecificationHasItsForm() {
        String example = """
            {
              "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
              "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
              "literals": [null, true, false]
            }\
            """;

        assertThat(canonical(example))
                .isEqualTo("{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
                        + "\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    }

    @Test
    @DisplayName("S44: names stand in the order of their UTF-16 code units")
    void namesAreOrderedByUtf16() {
        String example = """
            {"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
             "\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}\
            """;

        assertThat(canonical(example))
                .isEqualTo("{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\","
                        + "\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\","
                        + "\"\ud83d\ude00\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}");
    }

    @ParameterizedTest
    @DisplayName("S44: doubles have the form of ECMAScript")
    @CsvSource({
        "0000000000000000, 0",
        "8000000000000000, 0",
        "0000000000000001, 5e-324",
        "8000000000000001, -5e-324",
        "7fefffffffffffff, 1.7976931348623157e+308",
        "ffefffffffffffff, -1.7976931348623157e+308",
        "4340000000000000, 9007199254740992",
        "c340000000000000, -9007199254740992",
        "4430000000000000, 295147905179352830000",
        "44b52d02c7e14af5, 9.999999999999997e+22",
        "44b52d02c7e14af6, 1e+23",
        "44b52d02c7e14af7, 1.0000000000000001e+23",
        "444b1ae4d6e2ef4e, 999999999999999700000",
        "444b1ae4d6e2ef4f, 999999999999999900000",
        "444b1ae4d6e2ef50, 1e+21",
        "3eb0c6f7a0b5ed8c, 9.999999999999997e-7",
        "3eb0c6f7a0b5ed8d, 0.000001",
        "41b3de4355555553, 333333333.3333332",
        "41b3de4355555554, 333333333.33333325",
        "41b3de4355555555, 333333333.3333333",
        "41b3de4355555556, 333333333.3333334",
        "41b3de4355555557, 333333333.33333343",
        "becbf647612f3696, -0.0000033333333333333333",
        "43143ff3c1cb0959, 1424953923781206.2",
    })
    void doublesHaveTheFormOfEcmaScript(String bits, String form) {
        double value = Double.longBitsToDouble(Long.parseUnsignedLong(bits, 16));

        assertThat(new String(CanonicalJson.of(value), UTF_8)).isEqualTo(form);
    }

    @ParameterizedTest
    @DisplayName("S44: numbers are written in one way, however they were read")
    @CsvSource({
        "1.0, 1",
        "-0, 0",
        "-0.0, 0",
        "1e21, 1e+21",
        "1E20, 100000000000000000000",
        "100, 100",
        "-1.50, -1.5",
        "0.000001, 0.000001",
        "0.0000001, 1e-7",
        "123e-9, 1.23e-7",
        "295147905179352830000, 295147905179352830000",
    })
    void numbersAreWrittenInOneWay(String written, String form) {
        assertThat(canonical(written)).isEqualTo(form);
    }

    @Test
    @DisplayName("S44: only what must be escaped is")
    void onlyWhatMustBeEscapedIs() {
        assertThat(canonical("\"\\u2028\\u2029\\u007f\\u00e4\\/\\b\\f\\u001F\\u0000\""))
                .isEqualTo("\"\u2028\u2029\u007fä/\\b\\f\\u001f\\u0000\"");
    }

    @ParameterizedTest
    @DisplayName("S44: what would have the form of something else is refused")
    @ValueSource(
            strings = {
                "{\"a\":1,\"a\":1}",
                "{\"a\":{\"b\":1,\"\\u0062\":2}}",
                "\"\\ud800\"",
                "\"\\udc00\\ud800\"",
                "\"\\ud800x\"",
                "{\"\\udead\":1}",
                "1e400",
                "9007199254740993",
                "-18446744073709551615",
                "[1] 2",
                "",
            })
    void whatHasNoFormIsRefused(String json) {
        assertThatThrownBy(() -> canonical(json)).isInstanceOf(A2AException.class);
    }

    @Test
    void theFormOfAnyDoubleIsReadAsThatDoubleAndIsItsOwnForm() {
        var random = new Random(8785);
        for (int i = 0; i < 100_000; i++) {
            double value = Double.longBitsToDouble(random.nextLong());
            if (Double.isFinite(value)) {
                String form = new String(CanonicalJson.of(value), UTF_8);

                assertThat(Double.parseDouble(form)).isEqualTo(value == 0 ? 0.0 : value);
                assertThat(canonical(form)).isEqualTo(form);
            }
        }
    }

    private static String canonical(String json) {
        return new String(CanonicalJson.of(json.getBytes(UTF_8)), UTF_8);
    }
}
