/** Queries in SPARQL and validation by SHACL. */
@NullMarked
package dev.parley.knowledge.sparql;

import org.jspecify.annotations.NullMarked;
