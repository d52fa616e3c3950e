/** The audit: a chain of hashes over the rows of groups and over the log of tasks. */
@NullMarked
package dev.parley.store.audit;

import org.jspecify.annotations.NullMarked;
