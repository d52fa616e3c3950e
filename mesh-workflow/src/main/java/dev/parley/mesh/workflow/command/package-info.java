/** Commands of workflows. */
@NullMarked
package dev.parley.mesh.workflow.command;

import org.jspecify.annotations.NullMarked;
