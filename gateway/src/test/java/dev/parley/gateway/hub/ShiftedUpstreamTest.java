package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A remote agent that keeps its connections and sends an answer too many on them, behind a gateway with two callers. */
@Timeout(60)
final class ShiftedUpstreamTest {
    /** When the answer too many is sent. */
    enum Extra {
        WITH_THE_ANSWER,
        BEFORE_THE_NEXT
    }

    /** Answers each message with its text, and once more. */
    private record Upstream(ServerSocket server, String binding, Extra extra) implements AutoCloseable {
        static Upstream of(String binding, Extra extra) throws IOException {
            var upstream = new Upstream(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), binding, extra);
            Thread.ofVirtual().start(upstream::accept);
            return upstream;
        }

        String url() {
            return "http://127.0.0.1:" + server.getLocalPort() + "/agent";
        }

        private void accept() {
            while (!server.isClosed()) {
                try {
                    Socket socket = server.accept();
                    Thread.ofVirtual().start(() -> serve(socket));
                } catch (IOException closed) {
                    return;
                }
            }
        }

        private void serve(Socket socket) {
            try (socket) {
                var in = new BufferedInputStream(socket.getInputStream());
                OutputStream out = socket.getOutputStream();
                String last = "";
                while (true) {
                    String head = head(in);
                    if (head.startsWith("GET")) {
                        write(out, whole(card()));
                        continue;
                    }
                    int length = Integer.parseInt(head.replaceFirst("(?is).*content-length: *(\\d+).*", "$1"));
                    String body = new String(in.readNBytes(length), UTF_8);
                    String text = body.replaceFirst("(?s).*\"text\":\"(\\w+)\".*", "$1");
                    String message = "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\""
                            + text + "\"}]}}";
                    String answer = binding.equals("JSONRPC")
                            ? "{\"jsonrpc\":\"2.0\",\"id\":"
                                    + body.replaceFirst("(?s)^.*?\"jsonrpc\":\"2.0\",\"id\":([^,]+),.*$", "$1")
                                    + ",\"result\":" + message + "}"
                            : message;
                    // The one too many is that of the request before.
                    write(
                            out,
                            extra == Extra.BEFORE_THE_NEXT
                                    ? (last.isEmpty() ? "" : whole(last)) + whole(answer)
                                    : whole(answer) + whole(answer));
                    last = answer;
                }
            } catch (IOException gone) {
                // the caller has left
            }
        }

        private static void write(OutputStream out, String text) throws IOException {
            out.write(text.getBytes(UTF_8));
            out.flush();
        }

        private static String whole(String body) {
            return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n"
                    + body;
        }

        private static String head(InputStream in) throws IOException {
            var head = new ByteArrayOutputStream();
            while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
                int next = in.read();
                if (next < 0) {
                    throw new IOException("closed");
                }
                head.write(next);
            }
            return head.toString(ISO_8859_1);
        }

        private String card() {
            return "{\"name\":\"shifting\",\"description\":\"\",\"version\":\"1\",\"capabilities\":{},"
                    + "\"defaultInputModes\":[],\"defaultOutputModes\":[],\"skills\":[],\"supportedInterfaces\":[{"
                    + "\"url\":\"http://inner.example:1/agent\",\"protocolBinding\":\"" + binding
                    + "\",\"protocolVersion\":\"1.0\"}]}";
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }

    @ParameterizedTest
    @DisplayName("T4: an answer too many reaches no other caller")
    @CsvSource({
        "JSONRPC, WITH_THE_ANSWER",
        "JSONRPC, BEFORE_THE_NEXT",
        "HTTP+JSON, WITH_THE_ANSWER",
        "HTTP+JSON, BEFORE_THE_NEXT"
    })
    void anAnswerTooManyReachesNoOtherCaller(String binding, Extra extra) throws Exception {
        try (Upstream upstream = Upstream.of(binding, extra);
                Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .set("gateway-allow", "localhost")
                        .authentication(Authentication.named(List.of("required")))
                        .callers(Callers.builder()
                                .apiKey("alice", "alice-key-0123456789")
                                .apiKey("bob", "bob-key-0123456789")
                                .build())
                        .start()) {
            Admin.of(hub).add("shifting", upstream.url(), Map.of("set", List.of("retries=0", "failures=100")));
            try (AgentClient alice = client(hub, "alice-key-0123456789");
                    AgentClient bob = client(hub, "bob-key-0123456789")) {
                int own = 0;
                for (int i = 0; i < 10; i++) {
                    own += answersOrFails(alice, "alice" + i) ? 1 : 0;
                    // Bob sends one message only, so no answer too many is his own.
                    if (i == 5) {
                        assertThat(((Message) bob.send("bob")).text()).isEqualTo("bob");
                    }
                }
                assertThat(own).isGreaterThanOrEqualTo(extra == Extra.WITH_THE_ANSWER ? 10 : 1);
            }
        }
    }

    /** Whether a message has its own answer, or one of its caller, or the call fails. */
    private static boolean answersOrFails(AgentClient caller, String text) {
        try {
            String answer = ((Message) caller.send(text)).text();
            assertThat(answer).startsWith("alice");
            return answer.equals(text);
        } catch (A2AException refused) {
            assertThatThrownBy(() -> {
                        throw refused;
                    })
                    .hasMessageContaining("another request");
            return false;
        }
    }

    private static AgentClient client(Hub hub, String key) {
        return AgentClient.builder().apiKey(key).retries(0).connect(hub.agentUrl("shifting"));
    }
}
