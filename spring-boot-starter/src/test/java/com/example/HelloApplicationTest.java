package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.protocol.Task;
import dev.parley.spring.test.ParleyTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@ParleyTest
class HelloApplicationTest {
    @Test
    void theAgentGreetsItsCaller(@Autowired AgentClient hello) {
        Task task = (Task) hello.send("Ada");

        assertThat(task.text()).isEqualTo("Hello, Ada");
    }
}
