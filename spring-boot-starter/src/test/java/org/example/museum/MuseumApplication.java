package org.example.museum;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Agents in a component and in a configuration, among other beans. */
@SpringBootApplication
class MuseumApplication {}
