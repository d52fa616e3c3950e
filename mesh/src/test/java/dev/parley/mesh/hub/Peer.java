package dev.parley.mesh.hub;

import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Caller;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A peer by HTTP and JSON. In its JSON, apostrophes stand for quotation marks. */
record Peer(Caller caller) {
    Peer(String base) {
        this(ExtensionKit.caller(base));
    }

    /** An answer with an envelope, to look into. */
    record Answer(ExtensionKit.Answer http) {
        @Override
        public String toString() {
            return http.toString();
        }

        int status() {
            return http.status();
        }

        String body() {
            return http.text();
        }

        @Nullable
        Object at(Object... path) {
            return http.at(path);
        }

        String text(Object... path) {
            return http.text(path);
        }

        String type() {
            return text("message", "type");
        }

        @Nullable
        Object content(Object... path) {
            var whole = new Object[path.length + 2];
            whole[0] = "message";
            whole[1] = "content";
            System.arraycopy(path, 0, whole, 2, path.length);
            return at(whole);
        }

        String header(String name) {
            return http.header(name);
        }
    }

    /** JSON of an envelope from {@code planner}. */
    static String envelope(String id, String to, String type, String content, String metadata) {
        return """
                {'version':'1.0','messageId':'%s','correlationId':'c-%s',
                 'from':{'agentId':'planner','endpoint':'https://a.example/agents/planner'},
                 'to':{'agentId':'%s','endpoint':'https://b.example/agents/%s/one'},
                 'message':{'type':'%s','mimeType':'application/json','content':%s},'metadata':%s}
                """.formatted(id, id, to, to, type, content, metadata);
    }

    Answer send(String id, String to, String type, String content, String... headers)
            throws IOException, InterruptedException {
        return post("/agents/" + to + "/one", envelope(id, to, type, content, "{}"), headers);
    }

    Answer delegate(String id, String to, String task, String text, String... headers)
            throws IOException, InterruptedException {
        return send(
                id, to, "task_delegation", "{'task':'%s','parameters':{'text':'%s'}}".formatted(task, text), headers);
    }

    Answer post(String path, String body, String... headers) throws IOException, InterruptedException {
        return new Answer(caller.with(headers).post(path, body));
    }

    Answer get(String path, String... headers) throws IOException, InterruptedException {
        return new Answer(caller.with(headers).get(path));
    }
}
