/** Calls about tasks that other engines run: handed to the owners of the tasks, and executed for other engines. */
@NullMarked
package dev.parley.engine.mail;

import org.jspecify.annotations.NullMarked;
