/** Logs of tasks and their webhooks as rows. */
@NullMarked
package dev.parley.store.tasks;

import org.jspecify.annotations.NullMarked;
