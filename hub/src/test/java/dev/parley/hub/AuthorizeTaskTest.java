package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.extension.AuthorizeTask;
import dev.parley.extension.AuthorizeTask.Authorized;
import dev.parley.protocol.TaskState;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class AuthorizeTaskTest {
    private static final AuthorizeTask GIVEN = new AuthorizeTask("1", "sesame");

    @Test
    void requestAndAnswerAreJson() {
        assertThat(AuthorizeTask.ROW.request().toJson(GIVEN)).isEqualTo(Map.of("taskId", "1", "credential", "sesame"));
        assertThat(AuthorizeTask.ROW.answer().toJson(new Authorized("1", TaskState.WORKING)))
                .isEqualTo(Map.of("taskId", "1", "state", "WORKING"));
    }

    /** The handler refuses these, after the check of authorization. */
    @Test
    void whatIsNoTextIsAbsent() {
        assertThat(AuthorizeTask.ROW.request().fromJson(Map.of("taskId", 1, "credential", List.of("sesame"))))
                .isEqualTo(new AuthorizeTask("", ""));
    }

    @Test
    void theCredentialIsNotInItsText() {
        assertThat(GIVEN.toString()).contains("taskId=1").doesNotContain("sesame");
    }
}
