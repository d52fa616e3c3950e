package dev.parley.dialect;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.List;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is sent to the addresses of REST, it is answered or refused in the words of the protocol. */
final class RestFuzzTest {
    private static final List<String> PATHS = List.of(
            "/message:send",
            "/message:stream",
            "/tasks/t/pushNotificationConfigs",
            "/v1/message:send",
            "/v1/message:stream");

    @MethodSource("dev.parley.dialect.Wire#everything")
    @FuzzTest(maxDuration = "2m")
    void requests(byte[] body) {
        PATHS.forEach(path -> JsonRpcFuzzTest.answer(path, body));
    }
}
