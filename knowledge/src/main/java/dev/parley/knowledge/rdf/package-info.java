/** Statements from and to files: RDF and CSV. */
@NullMarked
package dev.parley.knowledge.rdf;

import org.jspecify.annotations.NullMarked;
