package org.example.museum;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Not part of a test of agents. */
@Configuration(proxyBeanMethods = false)
class Shop {
    record Till() {}

    @Bean
    Till till() {
        return new Till();
    }
}
