package dev.parley.spring;

import static dev.parley.spring.Applications.runSecured;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Task;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** Users of Spring Security, who call agents with HTTP Basic. */
@Timeout(90)
final class ContainerCallersTest {
    private static ConfigurableApplicationContext application;
    private static HostedHub hub;

    /** The agent of everybody shows its caller; all other ones require a user, of Spring Security or with a key. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Secured {
        @Bean
        Agent whoami() {
            return shown("whoami");
        }

        @Bean
        Agent open() {
            return shown("open");
        }

        @Bean
        Agent tenants() {
            return shown("tenants");
        }

        private static Agent shown(String name) {
            return Agent.named(name, "Shows its caller").handle((request, reply) -> {
                CallContext caller = request.context();
                reply.complete(caller.caller() + " of " + caller.scope().group() + " may "
                        + String.join(",", caller.grants().stream().sorted().toList()));
            });
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    user("alice", "ROLE_ADMIN", "SCOPE_files", "SCOPE_admin", "SCOPE_group-admin"),
                    user("bob", "PARLEY_GROUP_shop"),
                    user("carol", "PARLEY_GROUP_shop", "PARLEY_GROUP_bank"),
                    user("dan the man"));
        }

        private static User user(String name, String... authorities) {
            return (User) User.withUsername(name)
                    .password("{noop}secret")
                    .authorities(authorities)
                    .build();
        }

        @Bean
        SecurityFilterChain rules(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(rules -> rules.requestMatchers("/a2a/agents/tenants/**")
                            .authenticated()
                            .anyRequest()
                            .permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .csrf(csrf -> csrf.ignoringRequestMatchers("/a2a/**"))
                    .build();
        }
    }

    @BeforeAll
    static void start() {
        application = runSecured(
                Secured.class,
                "--parley.in-memory=true",
                "--parley.auth=container",
                "--parley.agent-auth=open=none+container",
                "--parley.cors-origin=*");
        hub = application.getBean(HostedHub.class);
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    private static AgentClient client(String agent, String user) {
        return AgentClient.builder().header("Authorization", basic(user)).connect(hub.agentUrl(agent));
    }

    private static String basic(String user) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource({"alice, alice of default may files", "bob, bob of shop may ''"})
    void theUserIsTheCallerWithItsScopesAndGroup(String user, String shown) {
        try (AgentClient whoami = client("whoami", user);
                AgentClient tenants = client("tenants", user)) {
            assertThat(((Task) whoami.send("who?")).text()).isEqualTo(shown.replace("''", ""));
            assertThat(((Task) tenants.send("who?")).text()).isEqualTo(shown.replace("''", ""));
        }
    }

    @Test
    void aUserDoesNotSeeTheTaskOfAnother() {
        try (AgentClient alice = client("whoami", "alice");
                AgentClient bob = client("whoami", "bob")) {
            String id = ((Task) alice.send("who?")).id();

            assertThat(alice.task(id).id()).isEqualTo(id);
            assertThatThrownBy(() -> bob.task(id))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            refused -> assertThat(refused.error()).isEqualTo(A2AError.TASK_NOT_FOUND));
        }
    }

    @Test
    void aStreamIsOfTheUser() {
        try (AgentClient alice = client("whoami", "alice");
                var stream = alice.stream("who?")) {
            var texts = new StringBuilder();
            stream.forEachRemaining(texts::append);

            assertThat(texts).contains("alice of default may files").contains("COMPLETED");
        }
    }

    @Test
    void anonymousCallersStayAnonymousWhateverTheySend() throws Exception {
        assertThat(send("whoami").statusCode()).isEqualTo(401);
        assertThat(send("tenants").statusCode()).as("of Spring Security").isEqualTo(401);
        assertThat(send("open").body()).contains("anonymous of default may ");
        for (String header : List.of("X-Remote-User", "Remote-User", "X-Forwarded-User", "X-Api-Key")) {
            assertThat(send("whoami", header, "alice").statusCode()).as(header).isEqualTo(401);
            assertThat(send("open", header, "alice").body()).as(header).contains("anonymous of default may ");
        }
        assertThat(send("whoami", "Authorization", "Basic YWxpY2U6d3Jvbmc=").statusCode())
                .isEqualTo(401);
        assertThat(send("whoami", "Authorization", "Bearer alice").statusCode()).isEqualTo(401);
        assertThat(send("open", "Authorization", basic("alice")).body()).contains("alice of default may files");
    }

    @ParameterizedTest
    @CsvSource({"carol", "dan the man"})
    void aUserOfSeveralGroupsOrWithAnUnusableNameIsRefused(String user) throws Exception {
        assertThat(send("whoami", "Authorization", basic(user)).statusCode()).isEqualTo(401);
    }

    @Test
    void thePasswordThatABrowserAddsToTheRequestOfAForeignPageDoesNotCount() throws Exception {
        String alice = basic("alice");
        assertThat(send("whoami", "Authorization", alice, "Origin", "https://evil.example")
                        .statusCode())
                .isEqualTo(401);
        assertThat(send("whoami", "Authorization", alice, "Sec-Fetch-Site", "cross-site", "Origin", "null")
                        .statusCode())
                .isEqualTo(401);
        assertThat(send("whoami", "Authorization", alice, "Sec-Fetch-Site", "same-origin")
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    void aUserIsNotAnOperatorOfTheHubByAScope() throws Exception {
        try (var http = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(URI.create(hub.url() + "/admin/settings"))
                    .header("Authorization", basic("alice"))
                    .build();

            assertThat(http.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(403);
        }
    }

    private static HttpResponse<String> send(String agent, String... headers) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(hub.agentUrl(agent)))
                .header("A2A-Version", "1.0")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("""
                                {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message":
                                 {"messageId": "%s", "role": "ROLE_USER", "parts": [{"text": "who?"}]}}}""".formatted(UUID.randomUUID())));
        if (headers.length > 0) {
            request.headers(headers);
        }
        try (var http = HttpClient.newHttpClient()) {
            return http.send(request.build(), BodyHandlers.ofString());
        }
    }
}
