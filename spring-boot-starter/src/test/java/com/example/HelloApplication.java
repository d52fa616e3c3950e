package com.example;

import dev.parley.engine.Agent;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class HelloApplication {
    public static void main(String[] args) {
        SpringApplication.run(HelloApplication.class, args);
    }

    @Bean
    Agent hello() {
        return Agent.named("hello", "Greets its caller")
                .handle((request, reply) -> reply.complete("Hello, " + request.text()));
    }
}
