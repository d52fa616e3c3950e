/** Protocols of other registries in front of the record: ARD, AI Catalog, MCP registry, API catalog. */
@NullMarked
package dev.parley.registry.faces;

import org.jspecify.annotations.NullMarked;
