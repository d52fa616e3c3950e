package dev.parley.mcp.server;

import static dev.parley.mcp.server.ConformanceProvider.json;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Schemas and arguments are written with apostrophes. */
final class InputSchemaTest {
    private static final String SCHEMA = "{'type':'object','required':['a'],'additionalProperties':false,'properties':{"
            + "'a':{'type':['string','null'],'minLength':2,'maxLength':3},"
            + "'n':{'type':'integer','minimum':1,'maximum':10},"
            + "'e':{'enum':['x',1,null]},"
            + "'c':{'const':true},"
            + "'l':{'type':'array','maxItems':2,'items':{'type':'object','required':['id']}},"
            + "'r':{'$ref':'https://example.com/schema','type':'string'},"
            + "'p':{'type':'string','pattern':'(a+)+$'}}}";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{} | a: missing (expected: string or null)",
                "{'a':1} | a: wrong type (expected: string or null)",
                "{'a':'x'} | a: 1 characters (expected: at least 2)",
                "{'a':'long'} | a: 4 characters (expected: at most 3)",
                "{'a':'ab','n':1.5} | n: wrong type (expected: integer)",
                "{'a':'ab','n':0} | n: too small (expected: at least 1)",
                "{'a':'ab','n':1e300} | n: too large (expected: at most 10)",
                "{'a':'ab','e':'y'} | e: unknown value (expected: one of [x, 1, null])",
                "{'a':'ab','c':false} | c: wrong value (expected: true)",
                "{'a':'ab','l':[{'id':1},{}]} | l[1].id: missing",
                "{'a':'ab','l':[1]} | l[0]: wrong type (expected: object)",
                "{'a':'ab','l':[{},{},{}]} | l: 3 items (expected: at most 2)",
                "{'a':'ab','z':1} | z: unknown (expected: one of [a, n, e, c, l, r, p])"
            })
    void namesThePathOfTheFirstProblem(String arguments, String problem) {
        assertThat(InputSchema.problem(json(SCHEMA), json(arguments))).contains(problem);
    }

    @Test
    void passesOverReferencesAndPatterns() {
        String fitting =
                "{'a':null,'n':10.0,'e':1.0,'c':true,'l':[{'id':1}],'r':1,'p':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'}";

        assertThat(InputSchema.problem(json(SCHEMA), json(fitting))).isEmpty();
        assertThat(InputSchema.problem(json("{'type':'object','properties':'wrong','required':1}"), json("{'x':1}")))
                .isEmpty();
    }
}
