package dev.parley.mcp.server;

import static dev.parley.mcp.server.ConformanceProvider.json;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
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

    private static final String REFERENCES = "{'type':'object','required':['who'],'properties':{"
            + "'who':{'$ref':'#/$defs/Person'},"
            + "'old':{'$ref':'#/definitions/a~1b%20c'},"
            + "'list':{'type':'array','items':{'$ref':'#/$defs/Person','required':['id']}},"
            + "'same':{'$ref':'#/properties/who'},"
            + "'all':{'$ref':'#'},"
            + "'loop':{'$ref':'#/$defs/loop'},"
            + "'none':{'$ref':'#/$defs/none','type':'string'}},"
            + "'definitions':{'a/b c':{'type':'integer'}},"
            + "'$defs':{'loop':{'$ref':'#/$defs/loop'},"
            + "'Person':{'type':'object','required':['name'],'properties':{"
            + "'name':{'type':'string'},'children':{'type':'array','items':{'$ref':'#/$defs/Person'}}}}}}";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{} | who: missing (expected: object)",
                "{'who':1} | who: wrong type (expected: object)",
                "{'who':{}} | who.name: missing (expected: string)",
                "{'who':{'name':'a','children':[{'name':'b'},{'name':1}]}} | who.children[1].name: wrong type (expected: string)",
                "{'who':{'name':'a'},'old':'x'} | old: wrong type (expected: integer)",
                "{'who':{'name':'a'},'list':[{'name':'b'}]} | list[0].id: missing",
                "{'who':{'name':'a'},'same':{'name':2}} | same.name: wrong type (expected: string)",
                "{'who':{'name':'a'},'all':{'who':3}} | all.who: wrong type (expected: object)"
            })
    @DisplayName("N10: references within the schema are followed")
    void followsReferencesWithinTheSchema(String arguments, String problem) {
        assertThat(InputSchema.problem(json(REFERENCES), json(arguments))).contains(problem);
    }

    @Test
    @DisplayName("N10: cycles, references to nothing, and trees of references end")
    void referencesAreBounded() {
        assertThat(InputSchema.problem(json(REFERENCES), json("{'who':{'name':'a'},'loop':1,'none':1}")))
                .isEmpty();
        // Each level refers to the next one twice: 2 to the power of 60 schemas.
        var defs = new StringBuilder("'d60':{'type':'object'}");
        for (int i = 0; i < 60; i++) {
            String next = "{'$ref':'#/$defs/d" + (i + 1) + "'}";
            defs.append(",'d" + i + "':{'$ref':'#/$defs/d" + (i + 1) + "','properties':{'x':" + next + ",'y':" + next
                    + "}}");
        }
        String wide = "{'type':'object','properties':{'v':{'$ref':'#/$defs/d0'}},'$defs':{" + defs + "}}";
        String value = "{'x':{'x':{'x':{}},'y':{}},'y':{'x':{},'y':{'x':{},'y':{}}}}";

        assertThat(InputSchema.problem(json(wide), json("{'v':" + value + "}"))).isEmpty();
        assertThat(InputSchema.problem(
                        json(
                                "{'$schema':'http://json-schema.org/draft-07/schema#','properties':{"
                                        + "'a':{'$ref':'#/definitions/s','minLength':9}},'definitions':{'s':{'type':'string'}}}"),
                        json("{'a':'b'}")))
                .isEmpty();
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
