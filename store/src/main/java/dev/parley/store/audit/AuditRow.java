package dev.parley.store.audit;

import java.time.Instant;

/** An entry as it was recorded: its number from 1 without gaps, and when. */
public record AuditRow(long number, Instant at, AuditEntry entry, String hash) {}
