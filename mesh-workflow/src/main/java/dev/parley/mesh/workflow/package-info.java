/** Workflows: documents, their checks, and the state of a run. */
@NullMarked
package dev.parley.mesh.workflow;

import org.jspecify.annotations.NullMarked;
