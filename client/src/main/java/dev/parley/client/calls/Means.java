package dev.parley.client.calls;

import dev.parley.client.wire.Attempts;
import dev.parley.client.wire.CardFinder;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.HttpWire;
import dev.parley.client.wire.RequestCredentials;

/** Parts of a client that all of its agents share. */
public record Means(
        ClientSettings settings, HttpWire wire, Attempts attempts, CardFinder finder, RequestCredentials credentials) {}
