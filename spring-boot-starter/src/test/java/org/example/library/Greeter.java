package org.example.library;

interface Greeter {
    String greet(String first, String last);
}
