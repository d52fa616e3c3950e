package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.adk.models.BaseLlm;
import com.google.adk.models.BaseLlmConnection;
import com.google.adk.models.LlmRequest;
import com.google.adk.models.LlmResponse;
import com.google.genai.types.Content;
import com.google.genai.types.Part;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.LocalAgent;
import io.reactivex.rxjava3.core.Flowable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ShopTest {
    /** A model that repeats all that was said, in two parts and then as a whole; it fails at "fail". */
    private static final BaseLlm MODEL = new BaseLlm("scripted") {
        @Override
        public Flowable<LlmResponse> generateContent(LlmRequest request, boolean stream) {
            String heard = request.contents().stream()
                    .filter(content -> content.role().orElse("").equals("user"))
                    .map(Content::text)
                    .collect(Collectors.joining(", "));
            return heard.equals("fail")
                    ? Flowable.error(new IllegalStateException("no answer"))
                    : Flowable.just(part("heard: "), part(heard), whole("heard: " + heard));
        }

        @Override
        public BaseLlmConnection connect(LlmRequest request) {
            throw new UnsupportedOperationException();
        }
    };

    private static LlmResponse part(String text) {
        return response(text).partial(true).build();
    }

    private static LlmResponse whole(String text) {
        return response(text).build();
    }

    private static LlmResponse.Builder response(String text) {
        return LlmResponse.builder()
                .content(Content.builder()
                        .role("model")
                        .parts(Part.fromText(text))
                        .build());
    }

    @Test
    void anAgentOfAdkAnswersInPartsAndRemembersItsContext() {
        try (LocalAgent agent = LocalAgent.of(Shop.agent(MODEL))) {
            Task first = agent.send("one");
            assertEquals(TaskState.COMPLETED, first.state());
            assertEquals("heard: \none", first.text());

            var two = dev.parley.protocol.Part.text("two");
            Task second = (Task) agent.answer(Message.user(two).in(first.contextId(), null));
            assertEquals("heard: \none, two", second.text());
        }
    }

    @Test
    void aFailureOfTheModelFailsTheTask() {
        try (LocalAgent agent = LocalAgent.of(Shop.agent(MODEL))) {
            assertEquals(TaskState.FAILED, agent.send("fail").state());
        }
    }
}
