package dev.parley.spring;

import static dev.parley.spring.Applications.get;
import static dev.parley.spring.Applications.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.engine.Skill;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.example.library.LibraryApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.aop.interceptor.DebugInterceptor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;

/** Components with skills as agents. */
@Timeout(90)
final class AgentBeansTest {
    @Test
    void componentsWithSkillsAreAgentsAndAreCalledThroughTheirProxies() throws Exception {
        try (var application = run(LibraryApplication.class, "--parley.in-memory=true")) {
            HostedHub hub = application.getBean(HostedHub.class);
            LibraryApplication.CALLS.clear();

            Task found = send(hub, "librarian", "find", Part.data(Map.of("title", "Emma", "limit", 1)));
            assertThat(found.artifacts().getFirst().parts())
                    .containsExactly(Part.data(Map.of("titles", List.of("Emma"))));
            assertThat(send(hub, "librarian", "lend", Part.text("Emma")).text())
                    .isEqualTo("Emma is yours for four weeks");
            assertThat(send(hub, "porter", "greet", Part.data(Map.of("first", "Ada", "last", "Lovelace")))
                            .text())
                    .isEqualTo("Good morning, Ada Lovelace");
            assertThat(send(hub, "one", "add", Part.text("4")).text()).isEqualTo("5");
            assertThat(send(hub, "more", "add", Part.text("4")).text()).isEqualTo("14");
            assertThat(send(hub, "limited", "add", Part.text("4")).text()).isEqualTo("104");

            assertThat(LibraryApplication.CALLS).containsExactly("find", "lend", "greet", "add", "add");
            assertThat(get(hub.agentUrl("porter") + "/.well-known/agent-card.json")
                            .body())
                    .contains("Greets at the door", "2.1.0", "Greets the person that is named");
            assertThat(get(hub.agentUrl("hundred") + "/.well-known/agent-card.json")
                            .statusCode())
                    .isEqualTo(404);
            assertThat(get(hub.url() + "/.well-known/agent-card.json").body())
                    .as("the first bean of the type Agent")
                    .contains("\"limited\"");
        }
    }

    @Test
    void theDocumentationShowsTheComponentThatIsTested() throws Exception {
        String source = Files.readString(Path.of("src/test/java/org/example/library/Librarian.java"));

        assertThat(Files.readString(Path.of("../docs/spring.md")))
                .contains(source.substring(source.indexOf("@AgentBean")).strip());
    }

    @AgentBean(description = "Repeats")
    static class Parrot {
        @Skill(description = "Repeats a word")
        String repeat(String word) {
            return word + word;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Aviary {
        @Bean
        Parrot parrot() {
            return new Parrot();
        }
    }

    @Test
    void aComponentThatIsNotPublicIsCalledWithoutAProxy() throws Exception {
        try (var application = run(Aviary.class, "--parley.in-memory=true")) {
            HostedHub hub = application.getBean(HostedHub.class);

            assertThat(send(hub, "parrot", "repeat", Part.text("tick")).text()).isEqualTo("ticktick");
        }
    }

    @AgentBean(description = "Has no skills")
    static class Idle {}

    @AgentBean(name = "two words", description = "Has a name that no address has")
    static class Misnamed extends Speaker {}

    static class Speaker {
        @Skill(description = "Speaks")
        public String speak(String words) {
            return words;
        }
    }

    @AgentBean(description = "Inherits its skill")
    static class Heir extends Speaker {}

    @AgentBean(description = "Has a private skill")
    static class Secretive {
        @SuppressWarnings("UnusedMethod") // called by reflection, if at all
        @Skill(description = "Speaks")
        private String speak(String words) {
            return words;
        }
    }

    @AgentBean(description = "Has a final skill")
    static class Firm {
        @Skill(description = "Speaks")
        final String speak(String words) {
            return words;
        }
    }

    interface Listener {
        void listen(String words);
    }

    @AgentBean(description = "Has a skill that its interface has not")
    static class Unshown implements Listener {
        @Override
        public void listen(String words) {}

        @Skill(description = "Speaks")
        public String speak(String words) {
            return words;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Proxies {
        @Bean
        static DebugInterceptor interceptor() {
            return new DebugInterceptor();
        }

        @Bean
        static BeanNameAutoProxyCreator proxies() {
            var creator = new BeanNameAutoProxyCreator();
            creator.setBeanNames("agent");
            creator.setInterceptorNames("interceptor");
            return creator;
        }
    }

    @Test
    void aComponentThatCannotBeAnAgentIsRefusedWithItsBeanAndTheProblem() {
        assertUnusable(Idle.class, "no skills (expected: methods annotated with @Skill)");
        assertUnusable(Misnamed.class, "name: two words (expected: at most 100 letters, digits");
        assertUnusable(Heir.class, "Speaker.speak: inherited (expected: a method with @Skill that ");
        assertUnusable(Passing.class, "not a singleton (expected: one, or the proxy of a scope)");
    }

    @Scope("prototype")
    @AgentBean(description = "Is another one for each call")
    static class Passing extends Speaker {}

    @AgentBean(description = "Has a skill")
    static class Speaking {
        @Skill(description = "Speaks")
        String speak(String words) {
            return words;
        }
    }

    @Test
    void aSkillThatAProxyCannotCallIsRefused() {
        String hidden = "speak: private or final (expected: neither, because the bean is a proxy)";
        assertThat(agents(Secretive.class)).extracting(Agent::name).containsExactly("agent");
        assertUnusable(Secretive.class, hidden, Proxies.class);
        assertUnusable(Firm.class, hidden, Proxies.class);
        assertUnusable(Unshown.class, "speak: not in an interface of the bean, which is a proxy", Proxies.class);
    }

    @Test
    void aClassWithoutNamesOfParametersIsRefused(@TempDir Path directory) throws Exception {
        Path source = Files.writeString(directory.resolve("Nameless.java"), """
                @dev.parley.spring.AgentBean(description = "Was compiled without -parameters")
                class Nameless {
                    @dev.parley.engine.Skill(description = "Adds")
                    String add(int one, int other) {
                        return "" + (one + other);
                    }
                }
                """);
        int failed = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-cp", System.getProperty("java.class.path"), "-proc:none", source.toString());
        assertThat(failed).isZero();

        try (var loader = new URLClassLoader(
                new URL[] {directory.toUri().toURL()}, getClass().getClassLoader())) {
            assertUnusable(
                    loader.loadClass("Nameless"),
                    "names of parameters are missing (expected: a class compiled with -parameters)");
        }
    }

    @Test
    void twoAgentsOfOneNameAreRefused() {
        assertThatThrownBy(() -> run(Twins.class, "--parley.in-memory=true"))
                .rootCause()
                .hasMessage("agent \"twin\": duplicate name");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Twins {
        @Bean
        @AgentBean(name = "twin", description = "The one")
        Speaking one() {
            return new Speaking();
        }

        @Bean
        @AgentBean(name = "twin", description = "The other")
        Speaking other() {
            return new Speaking();
        }
    }

    private static void assertUnusable(Class<?> component, String problem, Class<?>... configuration) {
        assertThatThrownBy(() -> agents(component, configuration))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("agent of bean \"agent\": ")
                .hasMessageContaining(problem);
    }

    /** The agents of an application with one component, the bean "agent". */
    private static List<Agent> agents(Class<?> component, Class<?>... configuration) {
        try (var context = new AnnotationConfigApplicationContext()) {
            Stream.of(configuration).forEach(context::register);
            context.registerBean("agent", component);
            context.refresh();
            return new AgentBeans(context).agents();
        }
    }

    private static Task send(HostedHub hub, String agent, String skill, Part part) {
        var send = new SendMessage(null, Message.user(part), SendConfiguration.DEFAULTS, Map.of("skillId", skill));
        try (AgentClient client = AgentClient.connect(hub.agentUrl(agent))) {
            return (Task) client.call(send, CallContext.anonymous());
        }
    }
}
