package dev.parley.knowledge.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.InvalidField;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TermTest {
    @ParameterizedTest
    @ValueSource(strings = {"", "d e", "x-é", "de_AT", "-de", "de-", "1", "undetermined", "de\n"})
    void onlyTagsAreLanguages(String language) {
        assertThatThrownBy(() -> Literal.of("text", language))
                .isInstanceOf(InvalidField.class)
                .hasMessageContaining("expected: a tag such as de or en-GB");
        assertThat(Literal.of("text", "zh-Hant-TW").language()).isEqualTo("zh-Hant-TW");
    }

    @Test
    void numbersAndTimesAreShortEnoughToBeReadAtOnce() {
        String digits = "7".repeat(1_001);

        for (String type : List.of("integer", "decimal", "unsignedByte", "dateTime", "double")) {
            assertThatThrownBy(() -> new Literal(digits, Term.XSD + type, null))
                    .isInstanceOf(InvalidField.class)
                    .hasMessageContaining("value: 1001 characters (expected: at most 1000");
        }
        assertThat(new Literal(digits, Literal.STRING, null).lexical()).hasSize(1_001);
        assertThat(new Literal(digits, "ex:own", null).lexical()).hasSize(1_001);
        assertThat(new Literal(digits.substring(1), Literal.INTEGER, null).value())
                .isInstanceOf(BigDecimal.class);
    }

    @Test
    void aNumberIsAnIntegerOrADecimalAsItIsWritten() {
        assertThat(Literal.of(new BigDecimal("7")).datatype()).isEqualTo(Literal.INTEGER);
        assertThat(Literal.of(new BigDecimal("7.0")).datatype()).isEqualTo(Literal.DECIMAL);
        assertThat(Literal.of(new BigDecimal("1e3"))).isEqualTo(Literal.of(1000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e999999999", "1e-999999999", "1e309"})
    void aNumberThatNobodyCanWriteOutIsRefused(String number) {
        assertThatThrownBy(() -> Literal.of(new BigDecimal(number))).isInstanceOf(InvalidField.class);
    }

    @Test
    void plainValuesNeedNoDatatypeToComeBack() {
        assertThat(Literal.of("x").isPlain()).isTrue();
        assertThat(Literal.of(true).isPlain()).isTrue();
        assertThat(Literal.of(new BigDecimal("0.50")).isPlain()).isTrue();
        assertThat(new Literal("1", Literal.BOOLEAN, null).isPlain()).isFalse();
        assertThat(new Literal("2026-01-01", "xsd:date", null).isPlain()).isFalse();
        assertThat(Literal.of("Haus", "de").isPlain()).isFalse();
    }

    @Test
    void wellKnownPrefixesAreTheSameAsTheirNamespaces() {
        var statement = Statement.of("ex:p1", "rdf:type", Term.Resource.of("owl:Thing"));

        assertThat(statement.predicate()).isEqualTo(Term.TYPE);
        assertThat(statement.object()).isEqualTo(Term.Resource.of(Term.OWL + "Thing"));
        assertThat(statement.subject().id()).isEqualTo("ex:p1");
    }

    @Test
    void namesAreNotTooLong() {
        String longest = "x".repeat(Term.MAX_NAME);

        assertThat(Statement.of(longest, longest, Term.Resource.of(longest)).in(longest))
                .isNotNull();
        assertThatThrownBy(() -> Term.Resource.of(longest + "x")).isInstanceOf(InvalidField.class);
        assertThatThrownBy(() -> new Literal("1", longest + "x", null)).isInstanceOf(InvalidField.class);
        assertThatThrownBy(() -> Statement.of("ex:p1", longest + "x", Literal.of(1)))
                .isInstanceOf(InvalidField.class);
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.01, 1.5, Double.NaN, Double.POSITIVE_INFINITY})
    void certaintyIsBetweenZeroAndOne(double certainty) {
        var statement = Statement.of("ex:p1", "ex:status", Literal.of("active"));

        assertThatThrownBy(() -> statement.withCertainty(certainty)).isInstanceOf(InvalidField.class);
    }

    @Test
    void aKeywordIsNoDatatype() {
        assertThatThrownBy(() -> new Literal("http://example.org/", "@id", null))
                .isInstanceOf(InvalidField.class)
                .hasMessageContaining("@id (expected: a datatype");
    }
}
