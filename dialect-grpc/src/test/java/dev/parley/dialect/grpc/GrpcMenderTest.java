package dev.parley.dialect.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import dev.parley.dialect.grpc.v1.Artifact;
import dev.parley.dialect.grpc.v1.Part;
import dev.parley.dialect.grpc.v1.SendMessageResponse;
import dev.parley.dialect.grpc.v1.Task;
import dev.parley.dialect.grpc.v1.TaskState;
import dev.parley.dialect.grpc.v1.TaskStatus;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.SendResult;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class GrpcMenderTest {
    private static final Part TEXT = Part.newBuilder().setText("kept").build();

    private static Task.Builder task() {
        return Task.newBuilder()
                .setId("t1")
                .setContextId("c1")
                .setStatus(TaskStatus.newBuilder().setState(TaskState.TASK_STATE_COMPLETED));
    }

    private static dev.parley.protocol.Task read(Task.Builder task) {
        SendResult result = GrpcMender.read(
                SendMessageResponse.newBuilder().setTask(task).build(),
                (Message message) -> Model.V1.result.read(message));
        return (dev.parley.protocol.Task) result;
    }

    @Test
    @DisplayName("C9: an artifact, a part or a message that does not fit is left out, and the rest is kept")
    void aBlemishIsLeftOut() {
        Artifact empty = Artifact.newBuilder().setArtifactId("x").build();
        Artifact half = Artifact.newBuilder()
                .setArtifactId("y")
                .addParts(Part.newBuilder())
                .addParts(TEXT)
                .build();
        var noParts = dev.parley.dialect.grpc.v1.Message.newBuilder().setMessageId("m");

        dev.parley.protocol.Task task = read(task().addArtifacts(empty)
                .addArtifacts(half)
                .addHistory(noParts)
                .setStatus(TaskStatus.newBuilder()
                        .setState(TaskState.TASK_STATE_COMPLETED)
                        .setMessage(noParts)));

        assertThat(task.artifacts())
                .singleElement()
                .satisfies(one -> assertThat(one.artifactId()).isEqualTo("y"));
        assertThat(task.text()).isEqualTo("kept");
        assertThat(task.status().message()).isNull();
        assertThat(task.history()).isEmpty();
    }

    @Test
    void aTaskWithoutStatusIsRefusedAndKeepsItsId() {
        var response = SendMessageResponse.newBuilder()
                .setTask(Task.newBuilder().setId("t1"))
                .build();

        assertThatThrownBy(() -> GrpcMender.read(response, (Message message) -> Model.V1.result.read(message)))
                .isInstanceOf(InvalidField.class);
        assertThat(GrpcMender.taskId(response)).isEqualTo("t1");
    }

    @Test
    @DisplayName("K5: in 0.3 the base64 text of a file is read as the file, and written")
    void filesOf03AreText() {
        byte[] file = {0, 1, 2, 3, (byte) 0xff, (byte) 0x89};
        var text = dev.parley.dialect.grpc.v03.FilePart.newBuilder()
                .setFileWithBytes(ByteString.copyFrom(dev.parley.protocol.support.Base64Text.encoded(file)))
                .setMimeType("image/png");
        var message = dev.parley.dialect.grpc.v03.Message.newBuilder()
                .setMessageId("m")
                .setRole(dev.parley.dialect.grpc.v03.Role.ROLE_AGENT)
                .addContent(dev.parley.dialect.grpc.v03.Part.newBuilder().setFile(text))
                .build();
        var response = dev.parley.dialect.grpc.v03.SendMessageResponse.newBuilder()
                .setMsg(message)
                .build();

        var read = (dev.parley.protocol.Message) Model.V03.result.read((Message) response);

        assertThat(read.parts())
                .singleElement()
                .satisfies(part ->
                        assertThat(((dev.parley.protocol.Part.Raw) part).raw()).isEqualTo(file));
        var written = (dev.parley.dialect.grpc.v03.SendMessageResponse)
                Model.V03.result.write(read, dev.parley.dialect.grpc.v03.SendMessageResponse.newBuilder());
        assertThat(written.getMsg().getContent(0).getFile().getFileWithBytes()).isEqualTo(text.getFileWithBytes());
    }
}
