@NullMarked
package dev.parley.registry.client.command;

import org.jspecify.annotations.NullMarked;
