package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TaskStateTest {
    @ParameterizedTest
    @EnumSource(names = "UNSPECIFIED", mode = EnumSource.Mode.EXCLUDE)
    void aStateIsNamedByItsWordAndByItsName(TaskState state) {
        assertThat(TaskState.named(state.word())).contains(state);
        assertThat(TaskState.named(" TASK_STATE_" + state.name().toLowerCase(java.util.Locale.ROOT)))
                .contains(state);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ended", "unspecified", "TASK_STATE_UNSPECIFIED", "input required"})
    void anotherNameIsNoState(String name) {
        assertThat(TaskState.named(name)).isEmpty();
    }
}
