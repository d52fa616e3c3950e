import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.ollama.OllamaStreamingChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.*;
import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.langchain4j.AgentTools;
import dev.parley.langchain4j.ChatAgent;
import dev.parley.langchain4j.HubMemory;
import dev.parley.protocol.*;
import java.io.IOException;
import java.nio.file.*;
import java.util.*;

/** Two agents of one hub: a library that searches notes, and a researcher, a model that has the library as its tool. */
class Research {
    interface Assistant {
        @SystemMessage("Search the library before you answer. Answer briefly, from what it finds, and name the notes.")
        @UserMessage("{{text}}")
        TokenStream answer(@MemoryId String conversation, @V("text") String text);
    }

    public static void main(String[] args) throws IOException {
        String question = args.length == 0 ? "Why do bearings wear out?" : String.join(" ", args);
        try (Hub hub = Hub.builder().port(0).inMemory().agents(library(Files.readAllLines(Path.of("notes.txt")))).start();
                AgentClient library = AgentClient.connect(hub.agentUrl("library"))) {
            hub.host(researcher(model(System.getenv()), library));
            System.out.println("researcher: " + hub.agentUrl("researcher"));
            try (AgentClient researcher = AgentClient.connect(hub.agentUrl("researcher"));
                    TaskStream events = researcher.stream(question)) {
                while (events.hasNext()) {
                    switch (events.next()) {
                        case TaskArtifactUpdateEvent piece -> System.out.print(text(piece.artifact()));
                        case TaskStatusUpdateEvent update when update.status().state().isTerminal() ->
                            System.out.println("\n" + update.status().state());
                        default -> {}
                    }
                }
            }
        }
    }

    static Agent researcher(StreamingChatModel model, AgentClient library) {
        Assistant assistant = AiServices.builder(Assistant.class)
                .streamingChatModel(model)
                .chatMemoryProvider(HubMemory.ofMessages(20))
                .toolProvider(AgentTools.of(library))
                .build();
        return Agent.named("researcher", "Answers questions from notes")
                .skill("research", "Answers a question", "research")
                .handle(ChatAgent.streaming(assistant::answer));
    }

    /** Returns each note that has a word of the message. */
    static Agent library(List<String> notes) {
        return Agent.named("library", "Searches notes on machines by words")
                .skill("search", "Returns each note that has one of the words", "search")
                .handle((request, reply) -> {
                    System.out.println("library: searches " + request.text());
                    var found = new StringJoiner("\n").setEmptyValue("no note has these words");
                    var words = List.of(request.text().toLowerCase(Locale.ROOT).split("\\W+"));
                    for (String note : notes) {
                        if (Arrays.stream(note.toLowerCase(Locale.ROOT).split("\\W+")).anyMatch(words::contains)) {
                            found.add(note);
                        }
                    }
                    reply.complete(found.toString());
                });
    }

    static StreamingChatModel model(Map<String, String> variables) {
        String url = variables.get("MODEL_URL"), name = variables.getOrDefault("MODEL_NAME", "llama3.2");
        return variables.getOrDefault("MODEL_FORMAT", "ollama").equals("openai")
                ? OpenAiStreamingChatModel.builder().baseUrl(url).modelName(name).apiKey(variables.get("MODEL_KEY")).build()
                : OllamaStreamingChatModel.builder().baseUrl(url == null ? "http://localhost:11434" : url).modelName(name).build();
    }

    static String text(Artifact artifact) {
        return String.join("", artifact.parts().stream().map(part -> part instanceof Part.Text text ? text.text() : "").toList());
    }
}
