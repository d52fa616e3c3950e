package org.example.museum;

import dev.parley.engine.Agent;
import dev.parley.spring.BeanSkills;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class Entrance {
    @Bean
    Agent bellOfTheEntrance(Bell bell) {
        return BeanSkills.of(Agent.named("bell", "Rings at the entrance"), bell);
    }
}
