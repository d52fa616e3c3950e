package dev.parley.spring;

import dev.parley.hub.HubBuilder;

/** Sets what properties cannot, such as callers, policies and keys, on the hub of an application. Beans of this type are applied in their order. */
@FunctionalInterface
public interface HubCustomizer {
    /** Called before each start of the hub, after its properties and agents are set. */
    void customize(HubBuilder hub);
}
