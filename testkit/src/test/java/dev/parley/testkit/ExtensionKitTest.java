package dev.parley.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import dev.parley.testkit.ExtensionKit.Notification;
import dev.parley.testkit.ExtensionKit.Receiver;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A caller that calls a receiver, without a hub between them. */
@Timeout(60)
final class ExtensionKitTest {
    private final Receiver receiver = ExtensionKit.receiver();
    private final Caller caller = ExtensionKit.caller(receiver.url(), "X-Note", "First");

    @AfterEach
    void stop() {
        receiver.close();
    }

    @Test
    void aNotificationHasItsBodyAndHeadersByNamesInLowerCase() throws Exception {
        Answer answer = caller.with("X-Other", "Second").post("", "{'text':'hello'}");

        assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
        Notification received = receiver.next();
        assertThat(received.body()).isEqualTo("{\"text\":\"hello\"}");
        assertThat(received.headers())
                .containsEntry("x-note", "First")
                .containsEntry("x-other", "Second")
                .containsEntry("content-type", "application/json");
    }

    @Test
    void formsAreSentWithTheirTypeAndApostrophes() throws Exception {
        caller.form("", "name=O'Hara");

        Notification received = receiver.next();
        assertThat(received.body()).isEqualTo("name=O'Hara");
        assertThat(received.headers()).containsEntry("content-type", "application/x-www-form-urlencoded");
    }

    @Test
    void notificationsUpToATextAreTakenAndOthersAreLeft() throws Exception {
        for (String text : List.of("one", "two", "three")) {
            caller.post("", text);
        }

        assertThat(receiver.until("two")).isEqualTo("one\ntwo");
        assertThat(receiver.left()).extracting(Notification::body).containsExactly("three");
    }

    @Test
    void refusedNotificationsAreNotKept() throws Exception {
        receiver.refusing(1);

        assertThat(caller.post("", "first").status()).isEqualTo(503);
        assertThat(caller.post("", "second").status()).isEqualTo(200);
        assertThat(receiver.left()).extracting(Notification::body).containsExactly("second");
    }

    @Test
    void valuesOfAnswersAreFoundByPaths() throws Exception {
        byte[] json = "{\"notes\":[{\"text\":\"a\"},{\"text\":\"b\"}]}".getBytes(UTF_8);
        var answer = new Answer(200, json, caller.get("").response());

        assertThat(answer.text("notes", 1, "text")).isEqualTo("b");
        assertThat(answer.at("notes", 2, "text")).isNull();
        assertThat(answer.each("notes", "text")).containsExactly("a", "b");
    }
}
