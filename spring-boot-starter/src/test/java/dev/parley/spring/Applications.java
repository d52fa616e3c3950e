package dev.parley.spring;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts applications of Spring Boot at free ports, and reads from them. */
final class Applications {
    /** Spring Security is on the class path of all tests, and would refuse all requests. */
    private static final String WITHOUT_SECURITY = "--spring.autoconfigure.exclude="
            + "org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration,"
            + "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration,"
            + "org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration,"
            + "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration";

    private Applications() {}

    /** Starts an application without Spring Security. */
    static ConfigurableApplicationContext run(Class<?> application, String... properties) {
        return start(application, Stream.concat(Stream.of(properties), Stream.of(WITHOUT_SECURITY)));
    }

    /** Starts an application with Spring Security. */
    static ConfigurableApplicationContext runSecured(Class<?> application, String... properties) {
        return start(application, Stream.of(properties));
    }

    private static ConfigurableApplicationContext start(Class<?> application, Stream<String> properties) {
        return SpringApplication.run(
                application,
                Stream.concat(
                                properties,
                                Stream.of(
                                        "--server.port=0",
                                        "--spring.main.banner-mode=off",
                                        "--spring.main.register-shutdown-hook=false",
                                        "--logging.level.root=warn",
                                        "--parley.drain=500ms"))
                        .toArray(String[]::new));
    }

    /** Reads from an application. */
    static HttpResponse<String> get(String url) throws Exception {
        try (var http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create(url))
                            .header("A2A-Version", "1.0")
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }
}
