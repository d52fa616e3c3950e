/** The interface of AgentVault's registry, with its accounts, in front of the entries of a registry. */
@NullMarked
package dev.parley.registry.vault;

import org.jspecify.annotations.NullMarked;
