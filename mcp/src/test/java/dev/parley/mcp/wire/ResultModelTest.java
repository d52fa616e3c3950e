package dev.parley.mcp.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.Content;
import dev.parley.mcp.McpTask;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Results of other programs are read leniently, and passed on with all that they have. */
class ResultModelTest {
    private static CallResult read(String json) {
        return ResultModel.call(Trees.json(json.replace('\'', '"')));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'content':[{'type':'text','text':'a'}]}",
                "{'content':[{'type':'text','text':'a','annotations':{'priority':1}}],'isError':false,'_meta':{'a':1}}",
                "{'content':[{'type':'image','data':'AA==','mimeType':'image/png','_meta':{}}],'isError':true}",
                "{'content':[{'type':'audio','data':'no base64'}],'structuredContent':[1,{'b':null}]}",
                "{'content':[{'type':'resource_link','uri':'a:b','name':'c','title':'d','size':5}]}",
                "{'content':[{'type':'resource','resource':{'uri':'a:b','text':'c','_meta':{'d':1}},'e':1}]}",
                "{'content':[{'type':'resource','resource':{'uri':'a:b','mimeType':'c/d','blob':'AA=='}}]}",
                "{'content':[{'type':'hologram','depth':3},{'type':'text'},{'type':'image','data':5}]}",
                "{'content':[],'structuredContent':{'a':1},'resultType':'complete'}"
            })
    void aResultIsWrittenWithAllMembersThatItWasReadWith(String json) {
        assertThat(Trees.of(ResultModel.CALL, read(json))).isEqualTo(Trees.json(json.replace('\'', '"')));
    }

    @Test
    void valuesOfWrongTypesAreAsGoodAsAbsent() {
        CallResult result =
                read("{'content':['a',{'type':'text','text':'b'},null],'isError':'yes','structuredContent':null}");

        assertThat(result).isEqualTo(CallResult.text("b"));
        assertThat(read("{'content':7}").content()).isEmpty();
    }

    @Test
    void contentWithoutARequiredMemberIsNoContentOfItsType() {
        assertThat(read("{'content':[{'type':'text','text':5}]}").content())
                .isEqualTo(List.of(new Content.Other(Map.of("type", "text", "text", 5))));
    }

    @Test
    void aTaskNeedsNoMembers() {
        McpTask task =
                ResultModel.TASK.fromJson(Trees.json("{\"status\": \"working\", \"reads\": 0, \"ttlMs\": null}"));

        assertThat(task.status()).isEqualTo(McpTask.Status.WORKING);
        assertThat(task.inputRequests()).isEmpty();
        assertThat(Trees.of(ResultModel.TASK, task))
                .containsEntry("ttlMs", null)
                .doesNotContainKey("result");
    }

    @ParameterizedTest
    @CsvSource({
        "'input_required', INPUT_REQUIRED",
        "'cancelled', CANCELLED",
        "'failed', FAILED",
        "'paused', UNKNOWN",
        "'WORKING', UNKNOWN",
        "7, UNKNOWN"
    })
    void aStatusOfAnotherProgramIsReadAsItsWord(String word, McpTask.Status status) {
        String json = word.equals("7") ? word : '"' + word + '"';

        McpTask task = ResultModel.TASK.fromJson(Trees.json("{\"taskId\": \"t\", \"status\": " + json + "}"));

        assertThat(task.status()).isEqualTo(status);
        assertThat(Trees.of(ResultModel.TASK, task)).containsEntry("status", status.word());
    }
}
