/** The AgentVault profile 0.2. */
@NullMarked
package dev.parley.dialect.vault;

import org.jspecify.annotations.NullMarked;
