import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.langchain4j.AgentTools;
import dev.parley.langchain4j.ChatAgent;
import dev.parley.protocol.Task;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** A hub with an editor of LangChain4j, and routes to agents of two frameworks in Python, which the editor has as tools. */
class Team {
    interface Editor {
        @SystemMessage("Get facts from the researcher, write a draft, have the critic read it, and answer with the better text.")
        @UserMessage("{{text}}")
        String write(@V("text") String text);
    }

    public static void main(String[] args) throws IOException {
        String task = args.length == 0 ? "Write two sentences on pumps." : String.join(" ", args);
        List<Process> programs = new ArrayList<>();
        try (Hub hub = hub(programs);
                AgentClient researcher = AgentClient.connect(hub.agentUrl("researcher"));
                AgentClient critic = AgentClient.connect(hub.agentUrl("critic"))) {
            Editor editor = AiServices.builder(Editor.class)
                    .chatModel(model())
                    .toolProvider(AgentTools.of(researcher, critic))
                    .build();
            hub.host(Agent.named("editor", "Writes texts with a team")
                    .skill("write", "Writes a text", "writing")
                    .handle(ChatAgent.answering((conversation, text) -> editor.write(text))));
            try (AgentClient client = AgentClient.connect(hub.agentUrl("editor"))) {
                System.out.println("editor: " + ((Task) client.send(task)).text());
            }
        } finally {
            programs.forEach(program -> program.descendants().forEach(ProcessHandle::destroy));
            programs.forEach(program -> program.toHandle().destroy()); // their output is read to its end
        }
    }

    static Hub hub(List<Process> programs) throws IOException {
        int[] ports = {freePort(), freePort()};
        programs.add(start("researcher.py", ports[0]));
        programs.add(start("critic.py", ports[1]));
        programs.forEach(Team::awaitServer);
        String routes = "researcher=http://127.0.0.1:%d,critic=http://127.0.0.1:%d".formatted(ports[0], ports[1]);
        return Hub.builder().port(0).inMemory().set("remote", routes).start();
    }

    static Process start(String script, int port) throws IOException {
        return new ProcessBuilder("uv", "run", script, String.valueOf(port)).redirectErrorStream(true).start();
    }

    static void awaitServer(Process program) {
        Iterator<String> lines = program.inputReader().lines().iterator();
        while (lines.hasNext() && !lines.next().contains("Uvicorn running on")) {}
        Thread.startVirtualThread(() -> lines.forEachRemaining(any -> {})); // a full pipe would stop the program
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    static ChatModel model() {
        return OpenAiChatModel.builder()
                .baseUrl(System.getenv().getOrDefault("MODEL_URL", "http://localhost:11434/v1"))
                .modelName(System.getenv().getOrDefault("MODEL_NAME", "llama3.2"))
                .apiKey(System.getenv().getOrDefault("MODEL_KEY", "none"))
                .build();
    }
}
