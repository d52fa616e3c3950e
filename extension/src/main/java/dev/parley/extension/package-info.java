/**
 * Parts that an extension adds to a hub beside its operations: the extension of each agent that uses it, pages, operations of the
 * administration, settings, and the personal data that it holds.
 */
@NullMarked
package dev.parley.extension;

import org.jspecify.annotations.NullMarked;
